"""Word lists: Russian, Polish and their relatives."""

SLAVIC: dict[str, dict[str, str]] = {
    "ru": {
        "never": """
            г-н г-жа г-да гн им проф Проф акад доц д-р Д-р к.т.н д.т.н ул Ул пр пл пер просп б-р св
            Св см ср напр т.е т.н т.к и.о вкл пос дер обл р-н стр-во корп т
            """,
        "maybe": "г гг в вв др пр н.э до.н.э кв куб м см км кг ч мин сек дол долл т.г г.р",
        "numbered": "№ п пп ст гл рис табл стр с д кв Кв тел Тел оф т ул Ул",
        "openers": """
            Я Ты Он Она Оно Мы Вы Они Это Этот Эта Эти Тот Та Те Там Тут Здесь Что Кто Где Когда
            Почему Зачем Как Какой Какая Если Потому Но И А Или Также Тоже Потом Затем После До При
            С Со Без От Для В Во На Над Под Через О Об Сейчас Теперь Сегодня Завтра Вчера Да Нет
            Пожалуйста Спасибо Есть Был Была Было Были Все Всё Каждый Никто Ничто Однако Его Её Их
            Мой Моя Наш Не По За Из К У Так Уже Ещё Только
            """,
        "function_words": """
            и а но или в во на с со к ко у о об от до из за по под над при для без через что как
            если это не ни же бы ли я ты он она мы вы они мой моя его её их наш этот эта очень
            """,
        "phrase_words": """
            и а но или что если как когда где который в на с к о от до из за по под над при для без
            через
            """,
    },
    "uk": {
        "never": "проф акад доц д-р ім вул пл просп св див напр тобто т.зв т",
        "maybe": "р рр ст т.д т.п ін грн тис млн млрд н.е",
        "numbered": "№ п ст гл рис табл стор с буд кв тел",
        "openers": """
            Я Ти Він Вона Воно Ми Ви Вони Це Цей Ця Ці Той Там Тут Що Хто Де Коли Чому Як Який Якщо
            Але І Й А Або Також Потім Після До При З Без Від Для У В На Над Під Через Зараз Тепер
            Сьогодні Завтра Вчора Так Ні Дякую Є Був Була Всі Все Кожен Ніхто Однак Його Її Їх Мій
            Наш Не
            """,
    },
    "bg": {
        "never": "проф акад доц д-р инж г-н г-жа ул бул пл св вж напр т.нар т",
        "maybe": "г гг в др т.н лв ст хил млн млрд т.г пр.н.е",
        "numbered": "№ чл ал стр тел фиг табл",
    },
    "pl": {
        "never": """
            prof Prof dr Dr hab inż mgr lek płk gen kpt por ks św Św bł p Pan ul al pl os im np tzn
            tzw m.in itp.ch ok wg zob rys ang łac niem tj
            """,
        "maybe": "r w godz tys mln mld zł Sp z.o.o S.A n.e p.n.e",
        "numbered": "nr Nr art Art str rozdz tom poz tel Tel godz ust pkt",
        "openers": """
            Ja Ty On Ona Ono My Wy Oni One To Ten Ta Te Ci Tam Tu Tutaj Co Kto Gdzie Kiedy Dlaczego
            Jak Jaki Jaka Czy Jeśli Jeżeli Gdy Ponieważ Ale I A Lub Albo Więc Potem Następnie Także
            Również Po Przed Przy Z Ze Bez Od Do Dla W We Na Nad Pod Przez O Podczas Teraz Dziś
            Dzisiaj Jutro Wczoraj Tak Nie Proszę Dziękuję Jest Są Był Była Było Ma Mają Może
            Wszyscy Każdy Nikt Nic Jednak Jego Jej Ich Mój Moja Nasz
            """,
        "function_words": """
            i a w we z ze na do od po o u za pod nad przed przy bez dla przez że to jest są był
            była nie się jak co czy ale lub albo więc ten ta te jego jej ich mój moja nasz bardzo
            """,
    },
    "cs": {
        "never": """
            p pí prof doc dr ing mgr bc sv např tzv tzn tj resp ul nám č čl odst písm odd str obr
            tab kap hl zb mj popř příp MUDr JUDr PhDr RNDr
            """,
        "maybe": "atd apod aj r s hod min mil mld tis Kč",
        "numbered": "č čl odst písm str obr tab kap § tel",
        "openers": """
            Já Ty On Ona Ono My Vy Oni To Ten Ta Ti Tam Tady Co Kdo Kde Kdy Proč Jak Jaký Jestli
            Když Protože Ale A I Nebo Tak Pak Potom Také Po Před Při S Z Bez Od Do Pro V Na Nad Pod
            Teď Dnes Zítra Včera Ano Ne Prosím Děkuji Je Jsou Byl Byla Bylo Všichni Každý Nikdo Nic
            Jeho Její Můj
            """,
    },
    "sk": {
        "never": """
            p prof doc dr ing mgr bc sv napr tzv tzn tj resp ul nám č čl ods písm odd str obr tab
            kap hl zb spol príp MUDr JUDr PhDr RNDr
            """,
        "maybe": "atď apod a.s s.r.o r s hod min mil mld tis",
        "numbered": "č čl ods písm str obr tab kap § tel",
        "openers": """
            Ja Ty On Ona Ono My Vy Oni To Ten Tá Tí Tam Tu Čo Kto Kde Kedy Prečo Ako Aký Ak Keď
            Pretože Ale A I Alebo Tak Potom Tiež Po Pred Pri S Z Bez Od Do Pre V Na Nad Pod Teraz
            Dnes Zajtra Včera Áno Nie Prosím Ďakujem Je Sú Bol Bola Bolo Všetci Každý Nikto Nič
            Jeho Jej Môj
            """,
    },
}

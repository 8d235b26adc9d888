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
        "never": "p pí prof dr ing mgr sv např tzv tj resp ul nám MUDr JUDr PhDr",
    },
    "sk": {
        "never": "p prof dr ing mgr sv napr tzv tj resp ul nám MUDr JUDr PhDr",
    },
}

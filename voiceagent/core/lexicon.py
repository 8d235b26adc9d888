"""Word lists of the boundary rules, by language. Written for this project.

A word in lower case matches in any case; a word with a capital matches only as it is written, which
keeps "Gen." apart from "gen." and "Sun." from "the sun.". Dots inside an abbreviation are kept, the
last one is left out.
"""

ENGLISH = {
    "never": """
        Dr Drs Mr Mrs Ms Mx Messrs Mmes Prof Profs Rev Fr Hon Pres Gov Sen Sens Rep Reps Gen Brig
        Col Lt Maj Capt Cpt Cmdr Cdr Adm Sgt Cpl Pvt Supt Insp Det Amb Atty Asst Assoc Mt Mts Ft Pt
        Msgr Bros Sra Sras Srta Srtas Esq Mlle Mme Mmes Dna Dott Sig Ing
        vs viz cf approx e.g i.e eg ca resp incl esp
        """,
    "maybe": """
        Jr Sr Inc Corp Ltd Co Cos LLC LLP plc Bro St Ste Ave Blvd Rd Ln Hwy Pkwy Sq Bldg Rte
        inc corp ltd co bros st ave blvd rd hwy dept univ assn est govt
        Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec Mon Tue Tues Wed Thu Thur Thurs Fri Sat Sun
        Ala Ariz Ark Calif Colo Conn Del Fla Ga Ill Ind Kan Ky La Md Mich Minn Miss Mo Mont Neb Nev
        Okla Ore Pa Penn Tenn Tex Va Vt Wash Wis Wyo Ont Que
        Ph Yahoo! Jeopardy!
        """,
    "numbered": """
        no No nos Nos n° N° nº Nº № nr Nr num p pp pg pgs fig figs Fig Figs Eq eq Eqs eqs Tab Sec sec
        Sect sect Ch ch Chap chap Art art Vol vol Vols Op op ext Ext ed Ed Ex ex Rm Apt apt Ste Pt pt
        par para Para fn ll lb lbs oz ft min sec hr hrs mi yd tel Tel
        """,
    "openers": """
        I He She It We You They This That These Those There Here The A An His Her Its Our Your Their My
        What Who Whom Whose Which When Where Why How Is Are Was Were Do Does Did Can Could Will Would
        Should Shall Has Have Had Am May Might Must If Then Thus So But And Or Nor Yet Because Although
        Though While Since After Before Until Unless Once As At In On For From With Without By To Of
        During Despite Instead However Therefore Moreover Furthermore Meanwhile Otherwise Also Still
        Even Only Just Not No Yes Please Thanks Thank Sorry Sure Okay OK Well Now Today Tomorrow
        Yesterday Finally First Second Third Next Later Soon Again Perhaps Maybe Let Both Each Every
        Everyone Everything Everybody Someone Something Some Several Many Most Much More Few All Any
        Anyone Another Other Others Nobody None Nothing Neither Either Such Under Over Among Between
        Within Through Like Unlike Per According Additionally Consequently Hence Indeed Rather Than
        Actually Unfortunately Fortunately Usually Often Sometimes Never Always Recently Don Didn Isn
        Doesn Can't Won Don't Didn't Isn't Doesn't Won't
        """,
    "designators": """
        option options plan vitamin type grade letter section group team class hepatitis appendix
        exhibit part point step gate terminal platform building block row answer choice figure table
        unit zone room level phase schedule category company version hall wing line side case drug
        column item question track variant scenario page key note string influenza line bus
        """,
    "function_words": """
        a an the this that these those my your his her its our their of to in on at by for from with
        without into onto over under about as than and or but nor if when while because so is are was
        were be been being am do does did has have had will would can could shall should may might
        must not no very too more most less each every any some such which who whom whose what where
        how why i you he she it we they there then just only also even between through during before
        after until per via both either neither
        """,
}

LANGUAGES: dict[str, dict[str, str]] = {
    "de": {
        "never": """
            Hr Hrn Fr Frl Dr Prof Dipl Ing Mag St Hl hl Sr z B b d h u a o ä bzw ca vgl inkl exkl
            evtl ggf sog sogen insb insbes bspw Bsp usf geb gest verh gen ehem z.B d.h u.a o.ä z.T i.d.R
            u.U n.Chr v.Chr zzgl abzgl lfd einschl ausschl betr bez jew max min Min Max mind bsplw dgl
            Bez Abt Hrsg hrsg Ew Exz Kgl zit rd
            """,
        "maybe": """
            usw etc Str str Jh Jhd Jhdt Std std Mio Mrd Tsd Chr Fa Ges GmbH Jan Feb Mär Apr Jun Jul Aug
            Sep Sept Okt Nov Dez Mo Di Mi Do So
            """,
        "numbered": "Nr nr Art Abs Kap Bd Aufl S Tel Abb Tab Pkt Ziff Anm Az Hs Nrn vom zum",
        "openers": """
            Ich Du Er Sie Es Wir Ihr Der Die Das Den Dem Des Ein Eine Einen Einem Einer Dieser Diese
            Dieses Diesen Diesem Jener Jene Mein Meine Dein Deine Sein Seine Ihre Ihren Unser Unsere
            Was Wer Wen Wem Wo Wann Warum Wie Welche Welcher Welches Wohin Woher Wenn Weil Da Dann
            Danach Dort Hier Doch Aber Und Oder Denn Also Auch Als Ob Dass Damit Dabei Dafür Dagegen
            Daher Deshalb Deswegen Trotzdem Jedoch Nach Vor Bei Mit Ohne Seit Für Gegen Zu Zum Zur Im In
            Am An Auf Aus Von Vom Über Unter Um Durch Während Nun Nur Noch Schon Heute Morgen Gestern
            Jetzt Bitte Danke Ja Nein Man Ist Sind War Waren Hat Haben Kann Können Will Wird Werden Soll
            Muss Alle Alles Andere Beide Einige Viele Mehrere Manche Jeder Jede Kein Keine Nicht Nichts
            Zudem Außerdem Allerdings Später Schließlich Zuerst Zunächst Inzwischen Obwohl Nachdem
            Bevor Bis Zwar Sogar Immer Wieder Sowohl Solche Wir's Es's Laut
            """,
        "designators": "Option Gruppe Klasse Typ Teil Punkt Plan Vitamin Gleis Halle Block Stufe Tor",
        "function_words": """
            der die das den dem des ein eine einen einem einer eines und oder aber denn weil dass ob
            wenn als wie in im an am auf aus bei mit von vom zu zum zur für über unter um durch nach
            vor seit ohne gegen ist sind war waren hat haben wird werden kann können will soll muss
            ich du er sie es wir ihr mein dein sein ihr unser sehr nicht auch nur so dieser diese dieses
            """,
    },
    "fr": {
        "never": """
            M MM Mme Mmes Mlle Mlles Dr Drs Pr Me Mgr St Ste Sts cf env éd p.ex p c.-à-d av apr J
            av.J vs Gal Cdt Cne Col
            """,
        "maybe": "etc Cie cie Ltd boul av janv févr avr juil sept oct nov déc hab J.-C apr.J.-C",
        "numbered": "no No n° N° art chap fig p pp vol tél Tél éd réf",
        "openers": """
            Je Tu Il Elle On Nous Vous Ils Elles Ce Cet Cette Ces C J L D Le La Les Un Une Des Du De Mon
            Ma Mes Ton Ta Tes Son Sa Ses Notre Votre Leur Leurs Que Qui Quoi Quel Quelle Quels Où Quand
            Comment Pourquoi Combien Si Mais Et Ou Donc Or Car Alors Puis Ensuite Enfin Ainsi Aussi
            Avec Sans Pour Par Dans En Au Aux Après Avant Depuis Pendant Sur Sous Est Était Oui Non
            Merci Bonjour Voici Voilà Cela Ça Cependant Pourtant Toutefois Aujourd Demain Hier
            Maintenant Selon Quelques Plusieurs Tous Toutes Tout Chaque Aucun Rien Personne Ne N S'il
            """,
        "function_words": """
            le la les un une des du de d l à au aux en dans par pour sur sous avec sans et ou mais donc
            car que qui dont où si est sont était a ont avait je tu il elle on nous vous ils elles ce
            cet cette ces mon ma mes ton ta tes son sa ses notre votre leur leurs ne se y très plus
            """,
    },
    "es": {
        "never": """
            Sr Sra Srta Sres Sras Srtas Dr Dra Dres Dras D Dña Da Lic Ing Arq Prof Profa Gral Cnel Cap
            Tte Sto Sta Mons Excmo Excma Ilmo Ilma Ud Uds Vd Vds p.ej p ej Av Avda Admón Fdo Hno Hnos
            Univ aprox Mt
            """,
        "maybe": """
            etc Cía cía S.A EE.UU ee.uu a.C d.C Ltda Ene Feb Mar Abr May Jun Jul Ago Sep Sept Oct Nov
            Dic Lun Mié Jue Vie Sáb Dom
            """,
        "numbered": "núm Núm nº Nº N° n° No art Art cap pág págs vol tel Tel fig Fig km Km",
        "openers": """
            Yo Tú Él Ella Usted Nosotros Ellos Ellas Ustedes El La Los Las Un Una Unos Unas Este Esta
            Estos Estas Ese Esa Eso Esto Aquel Mi Mis Tu Tus Su Sus Nuestro Nuestra Qué Quién Cuál
            Cuándo Dónde Cómo Por Para Con Sin Según Si Pero Y O Porque Aunque Cuando Como Mientras
            Entonces Luego Después Antes Además También Sin Es Son Era Fue Está Están Hay Ha Han Había
            No Sí Gracias Ahora Hoy Mañana Ayer Aquí Allí En De Del Al A Desde Hasta Sobre Entre Lo Se
            Le Les Me Te Nos Todos Todo Todas Algunos Algunas Muchos Muchas Cada Otro Otra Ninguno Nadie
            Nada Así Ya Aún Solo Sólo Tras Durante
            """,
        "function_words": """
            el la los las un una unos unas de del a al en con por para sin sobre entre y e o u pero que
            si como cuando porque es son era fue está están ha han yo tú él ella mi tu su sus se lo le
            les me te nos muy más no este esta estos estas ese esa desde hasta
            """,
    },
    "pt": {
        "never": """
            Sr Sra Srs Sras Srta Dr Dra Drs Dras Prof Profa Eng Exmo Exma D Dom Pe Sto Sta Gen Cel Cap
            Ten Av p.ex p ex aprox
            """,
        "maybe": "etc Ltda Cia S.A jan fev abr mai jun jul ago set out nov dez a.C d.C",
        "numbered": "nº Nº n.º art Art cap pág págs pp vol tel Tel fig Fig",
        "openers": """
            Eu Tu Ele Ela Você Vocês Nós Eles Elas O A Os As Um Uma Uns Umas Este Esta Esse Essa Isso
            Isto Aquele Meu Minha Seu Sua Nosso Nossa Que Quem Qual Quando Onde Como Por Porque Para Com
            Sem Se Mas E Ou Então Depois Antes Também É São Era Foi Está Estão Há Não Sim Obrigado
            Obrigada Agora Hoje Amanhã Ontem Aqui Em No Na Nos Nas De Do Da Dos Das Ao Até Desde Todos
            Alguns Muitos Cada Outro Outra Ninguém Nada Assim Já Ainda Segundo Durante
            """,
        "function_words": """
            o a os as um uma uns umas de do da dos das em no na nos nas por para com sem e ou mas que se
            como quando é são era foi está estão eu tu ele ela meu minha seu sua ao à aos às muito mais
            não este esta esse essa
            """,
    },
    "it": {
        "never": """
            Sig Sigg Sigra Sig.ra Sig.na Sigg.ri Dott Dott.ssa Dr Prof Prof.ssa Avv Ing Arch Geom Rag On
            Sen Gen Col Cap Ten Mons Don S ad es p.es ecc.ti cfr Cfr Egr Gent.ma Spett Spett.le meteor
            idraul econ
            """,
        "maybe": "ecc etc Set Ott Gen Feb Mar Apr Mag Giu Lug Ago Nov Dic S.p.A S.r.l a.C d.C",
        "numbered": "n N nn art Art cap pag pagg vol tel Tel fig Fig num",
        "openers": """
            Io Tu Lui Lei Noi Voi Loro Il Lo La I Gli Le Un Uno Una Questo Questa Questi Queste Quello
            Quella Mio Mia Tuo Tua Suo Sua Nostro Che Chi Cosa Quale Quando Dove Come Perché Per Con
            Senza Se Ma E O Allora Poi Dopo Prima Anche Inoltre È Sono Era Ha Hanno C Non Sì No Grazie
            Ora Adesso Oggi Domani Ieri Qui In Nel Nella Di Del Della Da Dal A Al Alla Su Tra Fra Tutti
            Tutto Alcuni Molti Ogni Altro Nessuno Niente Così Già Ancora Secondo Durante
            """,
        "function_words": """
            il lo la i gli le un uno una di del dello della dei degli delle a al allo alla ai agli alle
            da dal dalla in nel nella con per su sul sulla tra fra e o ma che chi se come quando perché è
            sono era ha hanno io tu lui lei noi voi mio mia tuo tua suo sua non molto più questo questa
            """,
    },
    "nl": {
        "never": """
            dhr Dhr mevr Mevr mw Mw Mej mr Mr dr Dr drs Drs ir Ir ing prof Prof ds St bijv bv nl m.a.w
            d.w.z o.a z.g zgn i.p.v t.o.v m.b.t a.u.b evt ca vgl incl excl resp t.w
            """,
        "maybe": "enz etc jan feb mrt apr jun jul aug sept okt nov dec BV N.V B.V",
        "numbered": "nr Nr art Art blz hfst tel Tel fig Fig afb Afb",
        "openers": """
            Ik Jij Je Hij Zij Ze Het Wij We Jullie U De Een Dit Dat Deze Die Mijn Jouw Zijn Haar Ons Onze
            Wat Wie Waar Wanneer Waarom Hoe Welke Als Omdat Dan Daarna Daar Hier Maar En Of Want Dus Ook
            Toen Na Voor Bij Met Zonder Sinds Tegen Naar Op In Aan Uit Van Over Onder Om Door Tijdens Nu
            Vandaag Morgen Gisteren Ja Nee Dank Bedankt Is Was Waren Heeft Hebben Kan Wordt Er Men Alle
            Veel Sommige Elke Geen Niet Niets Bovendien Echter Volgens
            """,
        "function_words": """
            de het een en of maar want dus als dat die dit deze in op aan bij met van voor naar te ten
            ter uit over onder om door na is zijn was waren heeft hebben kan wordt ik jij je hij zij ze
            wij we mijn jouw haar ons onze niet ook nog zeer er
            """,
    },
    "pl": {
        "never": """
            prof Prof dr Dr hab inż mgr lek płk gen kpt por ks św Św bł p Pan ul al pl os im np tzn tzw
            m.in itp.ch ok wg zob por rys ang łac niem tj
            """,
        "maybe": "itd itp r w godz tys mln mld zł Sp z.o.o S.A n.e p.n.e",
        "numbered": "nr Nr art Art str rozdz tom poz tel Tel godz ust pkt",
        "openers": """
            Ja Ty On Ona Ono My Wy Oni One To Ten Ta Te Ci Tam Tu Tutaj Co Kto Gdzie Kiedy Dlaczego Jak
            Jaki Jaka Czy Jeśli Jeżeli Gdy Ponieważ Ale I A Lub Albo Więc Potem Następnie Także Również
            Po Przed Przy Z Ze Bez Od Do Dla W We Na Nad Pod Przez O Podczas Teraz Dziś Dzisiaj Jutro
            Wczoraj Tak Nie Proszę Dziękuję Jest Są Był Była Było Było Ma Mają Może Wszyscy Każdy Nikt Nic
            Jednak Jego Jej Ich Mój Moja Nasz
            """,
        "function_words": """
            i a w we z ze na do od po o u za pod nad przed przy bez dla przez że to jest są był była nie
            się jak co czy ale lub albo więc ten ta te jego jej ich mój moja nasz bardzo
            """,
    },
    "ru": {
        "never": """
            г-н г-жа г-да гн им проф Проф акад доц д-р Д-р к.т.н д.т.н ул Ул пр пл пер просп б-р св Св см
            ср напр т.е т.н т.к и.о вкл пос дер обл р-н стр-во корп т
            """,
        "maybe": """
            г гг в вв т.д т.п др пр руб коп тыс млн млрд н.э до.н.э кв куб м см км кг ч мин сек дол долл
            т.г г.р
            """,
        "numbered": "№ п пп ст гл рис табл стр с д кв Кв тел Тел оф т ул Ул",
        "openers": """
            Я Ты Он Она Оно Мы Вы Они Это Этот Эта Эти Тот Та Те Там Тут Здесь Что Кто Где Когда Почему
            Зачем Как Какой Какая Если Потому Но И А Или Также Тоже Потом Затем После До При С Со Без От
            Для В Во На Над Под Через О Об Во Сейчас Теперь Сегодня Завтра Вчера Да Нет Пожалуйста
            Спасибо Есть Был Была Было Были Все Всё Каждый Никто Ничто Однако Его Её Их Мой Моя Наш Не По
            За Из К У Так Уже Ещё Только
            """,
        "function_words": """
            и а но или в во на с со к ко у о об от до из за по под над при для без через что как если
            это не ни же бы ли я ты он она мы вы они мой моя его её их наш этот эта очень
            """,
    },
    "uk": {
        "never": "проф акад доц д-р ім вул пл просп св див напр тобто т.зв т",
        "maybe": "р рр ст т.д т.п ін грн тис млн млрд н.е",
        "numbered": "№ п ст гл рис табл стор с буд кв тел",
        "openers": """
            Я Ти Він Вона Воно Ми Ви Вони Це Цей Ця Ці Той Там Тут Що Хто Де Коли Чому Як Який Якщо Але І
            Й А Або Також Потім Після До При З Без Від Для У В На Над Під Через Зараз Тепер Сьогодні
            Завтра Вчора Так Ні Дякую Є Був Була Всі Все Кожен Ніхто Однак Його Її Їх Мій Наш Не
            """,
    },
    "bg": {
        "never": "проф акад доц д-р инж г-н г-жа ул бул пл св вж напр т.нар т",
        "maybe": "г гг в др т.н лв ст хил млн млрд т.г пр.н.е",
        "numbered": "№ чл ал стр тел фиг табл",
    },
    "kk": {
        "never": "проф акад т.б т.с.с",
        "maybe": "ж жж жыл ғ т.б млн млрд",
        "numbered": "№ б бет ж",
    },
    "el": {
        "never": "κ κα κος κ.κ Δρ δρ Καθ καθ π.χ δηλ βλ πρβλ λ.χ οδ Αγ αγ",
        "maybe": "κ.λπ κλπ κ.ά μ.μ π.μ μ.Χ π.Χ χιλ εκατ δισ",
        "numbered": "αρ Αρ άρθρ σελ τηλ Τηλ κεφ εικ",
        "openers": """
            Ο Η Το Οι Τα Τον Την Των Ένας Μια Μία Ένα Εγώ Εσύ Αυτός Αυτή Αυτό Εμείς Εσείς Αυτοί Τι Ποιος
            Ποια Πού Πότε Γιατί Πώς Αν Όταν Επειδή Αλλά Και Ή Τότε Μετά Πριν Επίσης Είναι Ήταν Έχει Δεν
            Ναι Όχι Ευχαριστώ Τώρα Σήμερα Αύριο Χθες Εδώ Εκεί Στο Στη Στην Στον Από Για Με Χωρίς Σε Όλοι
            Κάθε Κανείς Τίποτα Όμως Ωστόσο Θα Να Μου
            """,
        "function_words": "ο η το οι τα του της των τον την ένα μια και ή να θα δεν με σε από για στο στη",
    },
    "tr": {
        "never": "Dr Prof Doç Yrd Av Sn sn Alb Gen Müh Op Mah Cad Sok Sk Apt bkz Bkz örn yy Hz St",
        "maybe": "vb vs vd Ltd Şti A.Ş T.C M.Ö M.S",
        "numbered": "No no Nu s sf md Md tel Tel Şek Tab",
        "openers": """
            Ben Sen O Biz Siz Onlar Bu Şu Bunlar Bir Ne Kim Nerede Nereye Neden Niçin Nasıl Hangi Kaç
            Eğer Ama Ve Veya Fakat Ancak Çünkü Sonra Önce Ayrıca Şimdi Bugün Yarın Dün Evet Hayır
            Lütfen Teşekkürler Teşekkür Var Yok Her Hiç Herkes Burada Orada Benim Senin Onun Bizim Daha
            Çok Böylece Yani
            """,
        "function_words": "bir bu şu o ve veya ile ama çok daha en ne için gibi kadar de da mi mı mu mü",
    },
    "cs": {"never": "p pí prof dr ing mgr sv např tzv tj resp ul nám MUDr JUDr PhDr"},
    "sk": {"never": "p prof dr ing mgr sv napr tzv tj resp ul nám MUDr JUDr PhDr"},
    "da": {
        "never": "Skt Hr hr Fru fru Frk dr prof bl.a f.eks ca fx nr hhv jf kl pga inkl ekskl mht",
        "maybe": "osv mm mv etc co A/S kr mio mia",
        "numbered": "nr Nr kap s fig tlf art stk",
        "openers": """
            Jeg Du Han Hun Den Det Vi I De Dem En Et Dette Denne Disse Min Mit Din Dit Hans Hendes Vores
            Hvad Hvem Hvor Hvornår Hvorfor Hvordan Hvilken Hvis Fordi Så Men Og Eller Også Efter Før Ved
            Med Uden Siden Nu Her Der I Ja Nej Tak Er Var Har Kan Vil Alle Mange Ingen Ikke Mit
            """,
    },
    "sv": {
        "never": "Hr hr Fru dr prof t.ex bl.a d.v.s dvs s.k ca inkl exkl jfr St",
        "maybe": "osv m.m etc kr milj mkr",
        "numbered": "nr Nr kap s sid fig tel st",
    },
    "nb": {
        "never": "Hr hr Fru dr prof bl.a f.eks dvs ca inkl ekskl jf St",
        "maybe": "osv mm etc kr mill mrd",
        "numbered": "nr Nr kap s fig tlf",
    },
    "fi": {
        "never": "esim mm ns ts prof tri ent nyk n os",
        "maybe": "jne ym yms kpl milj klo eKr jKr",
        "numbered": "nro Nro s kpl puh",
    },
    "hu": {
        "never": "dr Dr prof id ifj ún pl ill kb vö Szt",
        "maybe": "stb u i.e i.sz Kft Rt",
        "numbered": "sz tel old",
    },
    "ro": {
        "never": "dl dna d-l d-na dr prof ing str sf ex",
        "maybe": "etc lei mil",
        "numbered": "nr Nr art pag tel",
    },
    "hi": {
        "never": """
            डॉ डा श्री श्रीमती सुश्री प्रो पं कु मो एड इंजी लेफ्टि कै
            ए बी सी डी एफ एच जे एल एम एन ओ पी आर एस टी यू वी
            """,
        "maybe": "ई लि प्रा कि.मी मि.मी",
        "numbered": "नं सं क्र पृ",
    },
    "mr": {"never": "डॉ श्री श्रीमती प्रा प्रो सौ कु ॲड", "numbered": "क्र नं पृ"},
    "bn": {"never": "ড ডা মো মোঃ প্রফেসর অধ্যাপক শ্রী মিস্টার মি ইঞ্জি", "numbered": "নং"},
    "ar": {"never": "د أ م أ.د م.م ص.ب ت", "numbered": "ص ج رقم"},
    "ur": {"never": "ڈاکٹر پروفیسر", "numbered": "نمبر ص"},
    "fa": {"never": "د م", "numbered": "ص ج"},
    "th": {"never": "ดร นพ พญ ศ รศ ผศ นาย นส ด.ช ด.ญ พล.อ พล.ต จ", "maybe": "พ.ศ ค.ศ น"},
}

ORDINAL_LANGUAGES = frozenset(
    "de da nb nn no fi cs sk pl hu sl hr sr bs et lv tr is fo lb dsb hsb".split()
)
"""Where a stop after a number makes an ordinal of it."""

OWN_STOPS = {"el": ";", "hy": ":"}
"""Greek asks with a semicolon; Armenian verjaket is often typed as a colon."""

DIALOGUE_DASH_LANGUAGES = frozenset("ru uk be kk bg".split())
REVERSED_GUILLEMETS = frozenset("de da sv fi hu cs sk sl hr sr bs".split())

MONTHS = frozenset(
    """
    January February March April May June July August September October November December
    Januar Februar März April Mai Juni Juli August September Oktober November Dezember Jänner
    Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec Okt Dez
    """.split()
)
WEEKDAYS = frozenset(
    """
    Monday Tuesday Wednesday Thursday Friday Saturday Sunday
    Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag Sonnabend
    """.split()
)
AFTER_CLOCK = (
    MONTHS
    | WEEKDAYS
    | frozenset("EST EDT CST CDT MST MDT PST PDT GMT UTC BST CET ET PT Eastern Pacific".split())
)
"""What may follow "10 a.m." inside one sentence."""
SUFFIXES_OF_NAMES = frozenset("Inc Ltd Jr Sr LLC LLP Corp Co PhD MD Esq II III IV".split())
"""What a comma may separate from the name it belongs to: "Acme, Inc."."""

"""Word lists: French and its relatives."""

ROMANCE: dict[str, dict[str, str]] = {
    "fr": {
        "never": """
            M MM Mme Mmes Mlle Mlles Dr Drs Pr Me Mgr St Ste Sts cf env éd p.ex p c.-à-d av apr J
            av.J vs Gal Cdt Cne Col
            """,
        "maybe": "Cie cie Ltd boul av janv févr avr juil sept oct nov déc hab J.-C apr.J.-C",
        "numbered": "no No n° N° art chap fig p pp vol tél Tél éd réf",
        "openers": """
            Je Tu Il Elle On Nous Vous Ils Elles Ce Cet Cette Ces C J L D Le La Les Un Une Des Du
            De Mon Ma Mes Ton Ta Tes Son Sa Ses Notre Votre Leur Leurs Que Qui Quoi Quel Quelle
            Quels Où Quand Comment Pourquoi Combien Si Mais Et Ou Donc Or Car Alors Puis Ensuite
            Enfin Ainsi Aussi Avec Sans Pour Par Dans En Au Aux Après Avant Depuis Pendant Sur Sous
            Est Était Oui Non Merci Bonjour Voici Voilà Cela Ça Cependant Pourtant Toutefois
            Aujourd Demain Hier Maintenant Selon Quelques Plusieurs Tous Toutes Tout Chaque Aucun
            Rien Personne Ne N S'il
            """,
        "function_words": """
            le la les un une des du de d l à au aux en dans par pour sur sous avec sans et ou mais
            donc car que qui dont où si est sont était a ont avait je tu il elle on nous vous ils
            elles ce cet cette ces mon ma mes ton ta tes son sa ses notre votre leur leurs ne se y
            très plus
            """,
        "phrase_words": """
            et ou mais donc car que qui dont où si quand parce dans par pour sur sous avec sans à
            en
            """,
    },
    "es": {
        "never": """
            sr sra srta sres sras srtas dr dra EE RR FF JJ CC Sr Sra Srta Sres Sras Srtas Dr Dra
            Dres Dras D Dña Da Lic Ing Arq Prof Profa Gral Cnel Cap Tte Sto Sta Mons Excmo Excma
            Ilmo Ilma Ud Uds Vd Vds p.ej p ej Av Avda Admón Fdo Hno Hnos Univ aprox Mt
            """,
        "maybe": """
            UU OO AA Cía cía S.A EE.UU ee.uu a.C d.C Ltda Ene Feb Mar Abr May Jun Jul Ago Sep Sept
            Oct Nov Dic Lun Mié Jue Vie Sáb Dom
            """,
        "numbered": "núm Núm nº Nº N° n° No art Art cap pág págs vol tel Tel fig Fig km Km",
        "openers": """
            Yo Tú Él Ella Usted Nosotros Ellos Ellas Ustedes El La Los Las Un Una Unos Unas Este
            Esta Estos Estas Ese Esa Eso Esto Aquel Mi Mis Tu Tus Su Sus Nuestro Nuestra Qué Quién
            Cuál Cuándo Dónde Cómo Por Para Con Sin Según Si Pero Y O Porque Aunque Cuando Como
            Mientras Entonces Luego Después Antes Además También Es Son Era Fue Está Están Hay Ha
            Han Había No Sí Gracias Ahora Hoy Mañana Ayer Aquí Allí En De Del Al A Desde Hasta
            Sobre Entre Lo Se Le Les Me Te Nos Todos Todo Todas Algunos Algunas Muchos Muchas Cada
            Otro Otra Ninguno Nadie Nada Así Ya Aún Solo Sólo Tras Durante
            """,
        "function_words": """
            el la los las un una unos unas de del a al en con por para sin sobre entre y e o u pero
            que si como cuando porque es son era fue está están ha han yo tú él ella mi tu su sus
            se lo le les me te nos muy más no este esta estos estas ese esa desde hasta
            """,
        "phrase_words": """
            y o pero que si cuando como porque donde en con por para sin sobre entre desde hasta
            """,
    },
    "pt": {
        "never": """
            Sr Sra Srs Sras Srta Dr Dra Drs Dras Prof Profa Eng Exmo Exma D Dom Pe Sto Sta Gen Cel
            Cap Ten Av p.ex p ex aprox
            """,
        "maybe": "etc Ltda Cia S.A jan fev abr mai jun jul ago set out nov dez a.C d.C",
        "numbered": "nº Nº n.º art Art cap pág págs pp vol tel Tel fig Fig",
        "openers": """
            Eu Tu Ele Ela Você Vocês Nós Eles Elas O A Os As Um Uma Uns Umas Este Esta Esse Essa
            Isso Isto Aquele Meu Minha Seu Sua Nosso Nossa Que Quem Qual Quando Onde Como Por
            Porque Para Com Sem Se Mas E Ou Então Depois Antes Também É São Era Foi Está Estão Há
            Não Sim Obrigado Obrigada Agora Hoje Amanhã Ontem Aqui Em No Na Nos Nas De Do Da Dos
            Das Ao Até Desde Todos Alguns Muitos Cada Outro Outra Ninguém Nada Assim Já Ainda
            Segundo Durante
            """,
        "function_words": """
            o a os as um uma uns umas de do da dos das em no na nos nas por para com sem e ou mas
            que se como quando é são era foi está estão eu tu ele ela meu minha seu sua ao à aos às
            muito mais não este esta esse essa
            """,
        "phrase_words": """
            e ou mas que se quando como porque onde em no na com por para sem sobre entre até
            """,
    },
    "it": {
        "never": """
            dott sig avv prof Sig Sigg Sigra Sig.ra Sig.na Sigg.ri Dott Dott.ssa Dr Prof Prof.ssa
            Avv Ing Arch Geom Rag On Sen Gen Col Cap Ten Mons Don S ad es p.es ecc.ti cfr Cfr Egr
            Gent.ma Spett Spett.le meteor idraul econ
            """,
        "maybe": "Set Ott Gen Feb Mar Apr Mag Giu Lug Ago Nov Dic S.p.A S.r.l a.C d.C",
        "numbered": "n N nn art Art cap pag pagg vol tel Tel fig Fig num",
        "openers": """
            Io Tu Lui Lei Noi Voi Loro Il Lo La I Gli Le Un Uno Una Questo Questa Questi Queste
            Quello Quella Mio Mia Tuo Tua Suo Sua Nostro Che Chi Cosa Quale Quando Dove Come Perché
            Per Con Senza Se Ma E O Allora Poi Dopo Prima Anche Inoltre È Sono Era Ha Hanno C Non
            Sì No Grazie Ora Adesso Oggi Domani Ieri Qui In Nel Nella Di Del Della Da Dal A Al Alla
            Su Tra Fra Tutti Tutto Alcuni Molti Ogni Altro Nessuno Niente Così Già Ancora Secondo
            Durante
            """,
        "function_words": """
            il lo la i gli le un uno una di del dello della dei degli delle a al allo alla ai agli
            alle da dal dalla in nel nella con per su sul sulla tra fra e o ma che chi se come
            quando perché è sono era ha hanno io tu lui lei noi voi mio mia tuo tua suo sua non
            molto più questo questa
            """,
        "phrase_words": """
            e o ma che chi se quando come perché dove in nel nella con per su tra fra da
            """,
    },
    "ro": {
        "never": "dl dna d-l d-na dr prof ing str sf ex",
        "maybe": "etc lei mil",
        "numbered": "nr Nr art pag tel",
    },
}

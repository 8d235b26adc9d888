"""English, which is part of every language: replies quote English names and titles."""

ENGLISH = {
    "never": """
        dr mr mrs ms prof Dr Drs Mr Mrs Ms Mx Messrs Mmes Prof Profs Rev Fr Hon Pres Gov Sen Sens
        Rep Reps Gen Brig Col Lt Maj Capt Cpt Cmdr Cdr Adm Sgt Cpl Pvt Supt Insp Det Amb Atty Asst
        Assoc Mt Mts Ft Pt Msgr Bros Sra Sras Srta Srtas Esq Mlle Mme Dna Dott Sig Ing vs viz cf
        approx e.g i.e eg ca resp incl esp
        """,
    "maybe": """
        Jr Sr Inc Corp Ltd Co Cos LLC LLP plc Bro St Ste Ave Blvd Rd Ln Hwy Pkwy Sq Bldg Rte inc
        corp ltd co bros st ave blvd rd hwy dept univ assn est govt Jan Feb Mar Apr Jun Jul Aug Sep
        Sept Oct Nov Dec Mon Tue Tues Wed Thu Thur Thurs Fri Sat Sun Ala Ariz Ark Calif Colo Conn
        Del Fla Ga Ill Ind Kan Ky La Md Mich Minn Miss Mo Mont Neb Nev Okla Ore Pa Penn Tenn Tex Va
        Vt Wash Wis Wyo Ont Que Ph Yahoo! Jeopardy!
        """,
    "numbered": """
        no No nos Nos n° N° nº Nº № nr Nr num p pp pg pgs fig figs Fig Figs Eq eq Eqs eqs Tab Sec
        sec Sect sect Ch ch Chap chap Art art Vol vol Vols Op op ext Ext ed Ed Ex ex Rm Apt apt Ste
        Pt pt par para Para fn ll lb lbs oz ft min hr hrs mi yd tel Tel
        """,
    "openers": """
        I He She It We You They This That These Those There Here The A An His Her Its Our Your
        Their My What Who Whom Whose Which When Where Why How Is Are Was Were Do Does Did Can Could
        Will Would Should Shall Has Have Had Am May Might Must If Then Thus So But And Or Nor Yet
        Because Although Though While Since After Before Until Unless Once As At In On For From
        With Without By To Of During Despite Instead However Therefore Moreover Furthermore
        Meanwhile Otherwise Also Still Even Only Just Not No Yes Please Thanks Thank Sorry Sure
        Okay OK Well Now Today Tomorrow Yesterday Finally First Second Third Next Later Soon Again
        Perhaps Maybe Let Both Each Every Everyone Everything Everybody Someone Something Some
        Several Many Most Much More Few All Any Anyone Another Other Others Nobody None Nothing
        Neither Either Such Under Over Among Between Within Through Like Unlike Per According
        Additionally Consequently Hence Indeed Rather Than Actually Unfortunately Fortunately
        Usually Often Sometimes Never Always Recently Don Didn Isn Doesn Can't Won Don't Didn't
        Isn't Doesn't Won't Contact Visit Ask Try Bring Remember Consider Enjoy Feel Turn Take
        Tell Give Get Come Check Send Stir Mix Add Make
        """,
    "designators": """
        a an option options plan vitamin type grade letter section group team class hepatitis
        appendix exhibit part point step gate terminal platform building block row answer choice
        figure table unit zone room level phase schedule category company version hall wing line
        side case drug column item question track variant scenario page key note string influenza
        bus
        """,
    "function_words": """
        a an the this that these those my your his her its our their of to in on at by for from
        with without into onto over under about as than and or but nor if when while because so is
        are was were be been being am do does did has have had will would can could shall should
        may might must not no very too more most less each every any some such which who whom whose
        what where how why i you he she it we they there then just only also even between through
        during before after until per via both either neither
        """,
    "phrase_words": """
        and or but because so if when while who which that where how why in on at by for from with
        without into onto about as than before after until unless during through between since
        although though to
        """,
}

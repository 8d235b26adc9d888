"""Word lists: Languages that stand alone in this list."""

OTHERS: dict[str, dict[str, str]] = {
    "el": {
        "never": "κ κα κος κ.κ Δρ δρ Καθ καθ π.χ δηλ βλ πρβλ λ.χ οδ Αγ αγ",
        "maybe": "κ.λπ κλπ κ.ά μ.μ π.μ μ.Χ π.Χ χιλ εκατ δισ",
        "numbered": "αρ Αρ άρθρ σελ τηλ Τηλ κεφ εικ",
        "openers": """
            Ο Η Το Οι Τα Τον Την Των Ένας Μια Μία Ένα Εγώ Εσύ Αυτός Αυτή Αυτό Εμείς Εσείς Αυτοί Τι
            Ποιος Ποια Πού Πότε Γιατί Πώς Αν Όταν Επειδή Αλλά Και Ή Τότε Μετά Πριν Επίσης Είναι
            Ήταν Έχει Δεν Ναι Όχι Ευχαριστώ Τώρα Σήμερα Αύριο Χθες Εδώ Εκεί Στο Στη Στην Στον Από
            Για Με Χωρίς Σε Όλοι Κάθε Κανείς Τίποτα Όμως Ωστόσο Θα Να Μου
            """,
        "function_words": """
            ο η το οι τα του της των τον την ένα μια και ή να θα δεν με σε από για στο στη
            """,
    },
    "tr": {
        "never": "Dr Prof Doç Yrd Av Sn sn Alb Gen Müh Op Mah Cad Sok Sk Apt bkz Bkz örn yy Hz St",
        "maybe": "vb vs vd Ltd Şti A.Ş T.C M.Ö M.S",
        "numbered": "No no Nu s sf md Md tel Tel Şek Tab",
        "openers": """
            Ben Sen O Biz Siz Onlar Bu Şu Bunlar Bir Ne Kim Nerede Nereye Neden Niçin Nasıl Hangi
            Kaç Eğer Ama Ve Veya Fakat Ancak Çünkü Sonra Önce Ayrıca Şimdi Bugün Yarın Dün Evet
            Hayır Lütfen Teşekkürler Teşekkür Var Yok Her Hiç Herkes Burada Orada Benim Senin Onun
            Bizim Daha Çok Böylece Yani
            """,
        "function_words": """
            bir bu şu o ve veya ile ama çok daha en ne için gibi kadar de da mi mı mu mü
            """,
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
    "kk": {
        "never": "проф акад т.б т.с.с",
        "maybe": "ж жж жыл ғ т.б млн млрд",
        "numbered": "№ б бет ж",
    },
    "hi": {
        "never": """
            डॉ डा श्री श्रीमती सुश्री प्रो पं कु मो एड इंजी लेफ्टि कै ए बी सी डी एफ एच जे एल एम एन
            ओ पी आर एस टी यू वी
            """,
        "maybe": "ई लि प्रा कि.मी मि.मी",
        "numbered": "नं सं क्र पृ",
    },
    "mr": {
        "never": "डॉ श्री श्रीमती प्रा प्रो सौ कु ॲड",
        "numbered": "क्र नं पृ",
    },
    "bn": {
        "never": "ড ডা মো মোঃ প্রফেসর অধ্যাপক শ্রী মিস্টার মি ইঞ্জি",
        "numbered": "নং",
    },
    "ar": {
        "never": "د أ م أ.د م.م ص.ب ت",
        "numbered": "ص ج رقم",
    },
    "ur": {
        "never": "ڈاکٹر پروفیسر",
        "numbered": "نمبر ص",
    },
    "fa": {
        "never": "د م",
        "numbered": "ص ج",
    },
    "th": {
        "never": "ดร นพ พญ ศ รศ ผศ นาย นส ด.ช ด.ญ พล.อ พล.ต จ",
        "maybe": "พ.ศ ค.ศ น",
    },
}

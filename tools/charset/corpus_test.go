package charset

// corpus is text of many languages as it stands in programs and letters, written
// for these tests and not a part of what the models were counted from; with the
// encodings it is usually found in.
var corpus = []struct{ language, encodings, text string }{
	{"Chinese, simplified", "GBK GB18030", `连接数据库失败，请检查配置文件。 如果用户没有登录，就跳转到首页。 这个函数返回两个日期之间的天数。
初始化全局变量 释放内存，防止泄漏 读取文件内容并按行分割 他昨天下午在图书馆看了三个小时的书，晚上才回家吃饭。
修复了窗口关闭时程序崩溃的问题 添加新的测试用例 今天天气很好，我们一起去公园散步吧。 计算订单总金额（含税） 超时重试次数 默认不启用缓存
注意：这里不能直接删除，否则会影响其他模块。 密码长度至少为八位，并且必须包含数字。`},
	{"Chinese, traditional", "Big5", `無法連線到資料庫，請檢查設定檔。 如果使用者尚未登入，就轉到首頁。 這個函式會傳回兩個日期之間的天數。
初始化全域變數 釋放記憶體，避免洩漏 讀取檔案內容並逐行處理 他昨天下午在圖書館看了三個小時的書，晚上才回家吃飯。
修正視窗關閉時程式當掉的問題 新增測試案例 今天天氣很好，我們一起去公園散步吧。 計算訂單總金額（含稅） 重試次數 預設不使用快取
注意：這裡不能直接刪除，否則會影響其他模組。 密碼長度至少八個字元，而且必須包含數字。`},
	{"Japanese", "Shift_JIS EUC-JP", `データベースに接続できません。設定ファイルを確認してください。 ユーザーがログインしていない場合はトップページへ移動する。
この関数は二つの日付の間の日数を返します。 初期化処理 メモリを解放する ファイルを一行ずつ読み込む 彼は昨日の午後、図書館で三時間も本を読んでいた。
ウィンドウを閉じると落ちる不具合を修正 テストを追加 今日は天気がいいので、公園を散歩しましょう。 注文の合計金額を計算する（税込） 再試行の回数
注意：ここで直接削除すると他のモジュールに影響します。 パスワードは八文字以上で、数字を含めてください。`},
	{"Korean", "EUC-KR", `데이터베이스에 연결할 수 없습니다. 설정 파일을 확인하세요. 사용자가 로그인하지 않았으면 첫 화면으로 이동한다.
이 함수는 두 날짜 사이의 일수를 반환한다. 전역 변수 초기화 메모리 해제 파일을 한 줄씩 읽는다 그는 어제 오후에 도서관에서 세 시간 동안 책을 읽었다.
창을 닫을 때 프로그램이 멈추는 문제를 고침 시험 추가 오늘은 날씨가 좋으니 공원에서 산책합시다. 주문 합계 금액 계산 재시도 횟수
주의: 여기서 바로 지우면 다른 모듈에 영향을 준다. 비밀번호는 여덟 글자 이상이어야 하고 숫자를 포함해야 합니다.`},
	{"Russian", "windows-1251 KOI8-R IBM866 ISO-8859-5", `Не удалось подключиться к базе данных, проверьте файл настроек. Если пользователь не вошёл, переходим на главную страницу.
Функция возвращает число дней между двумя датами. Освободить память Читаем файл построчно и разбираем каждую строку Вчера он три часа читал книгу в библиотеке.
Исправлено падение при закрытии окна Добавить проверку Сегодня хорошая погода, пойдём гулять в парк. СУММА ЗАКАЗА С НАЛОГОМ число повторных попыток
Внимание: удалять здесь нельзя, это сломает другие модули. Пароль должен быть не короче восьми знаков.`},
	{"Ukrainian", "windows-1251 KOI8-U", `Не вдалося під'єднатися до бази даних, перевірте файл налаштувань. Якщо користувач не ввійшов, переходимо на головну сторінку.
Функція повертає кількість днів між двома датами. Звільнити пам'ять Читаємо файл рядок за рядком Учора він три години читав книжку в бібліотеці.
Виправлено падіння під час закриття вікна Додати перевірку Сьогодні гарна погода, ходімо гуляти в парк. Пароль має містити щонайменше вісім знаків.`},
	{"Bulgarian", "windows-1251", `Няма връзка с базата данни, проверете файла с настройките. Ако потребителят не е влязъл, отиваме на началната страница.
Функцията връща броя на дните между две дати. Освобождаване на паметта Четем файла ред по ред Вчера той чете книга три часа в библиотеката.
Днес времето е хубаво, хайде да се разходим в парка. Паролата трябва да има поне осем знака.`},
	{"Greek", "windows-1253 ISO-8859-7", `Δεν ήταν δυνατή η σύνδεση με τη βάση δεδομένων, ελέγξτε το αρχείο ρυθμίσεων. Αν ο χρήστης δεν έχει συνδεθεί, πηγαίνουμε στην αρχική σελίδα.
Η συνάρτηση επιστρέφει τον αριθμό των ημερών ανάμεσα σε δύο ημερομηνίες. Διαβάζουμε το αρχείο γραμμή προς γραμμή Χθες διάβαζε τρεις ώρες στη βιβλιοθήκη.
Σήμερα ο καιρός είναι καλός, πάμε μια βόλτα στο πάρκο. Ο κωδικός πρέπει να έχει τουλάχιστον οκτώ χαρακτήρες.`},
	{"Hebrew", "windows-1255", `לא ניתן להתחבר למסד הנתונים, בדקו את קובץ ההגדרות. אם המשתמש לא מחובר, עוברים לדף הראשי.
הפונקציה מחזירה את מספר הימים בין שני תאריכים. שחרור זיכרון קוראים את הקובץ שורה אחר שורה אתמול הוא קרא ספר בספרייה במשך שלוש שעות.
היום מזג האוויר נעים, בואו נצא לטייל בפארק. הסיסמה חייבת להכיל לפחות שמונה תווים.`},
	{"Arabic", "windows-1256 ISO-8859-6", `تعذر الاتصال بقاعدة البيانات، يرجى التحقق من ملف الإعدادات. إذا لم يسجل المستخدم الدخول ننتقل إلى الصفحة الرئيسية.
تعيد الدالة عدد الأيام بين تاريخين. تحرير الذاكرة نقرأ الملف سطرا سطرا قرأ أمس كتابا في المكتبة ثلاث ساعات.
الطقس جميل اليوم فلنتنزه في الحديقة. يجب ألا تقل كلمة المرور عن ثمانية أحرف.`},
	{"Thai", "windows-874", `ไม่สามารถเชื่อมต่อฐานข้อมูลได้ กรุณาตรวจสอบแฟ้มตั้งค่า ถ้าผู้ใช้ยังไม่เข้าสู่ระบบให้ไปหน้าแรก
ฟังก์ชันนี้คืนค่าจำนวนวันระหว่างสองวันที่ คืนหน่วยความจำ อ่านแฟ้มทีละบรรทัด เมื่อวานเขาอ่านหนังสือในห้องสมุดสามชั่วโมง
วันนี้อากาศดี ไปเดินเล่นในสวนกันเถอะ รหัสผ่านต้องมีอย่างน้อยแปดตัวอักษร`},
	{"Turkish", "windows-1254", `Veritabanına bağlanılamadı, ayar dosyasını denetleyin. Kullanıcı giriş yapmadıysa ana sayfaya geçilir.
Bu işlev iki tarih arasındaki gün sayısını döndürür. Belleği boşalt Dosyayı satır satır oku Dün öğleden sonra kütüphanede üç saat kitap okudu.
Pencere kapanınca çöken program düzeltildi Bugün hava güzel, haydi parkta yürüyelim. Şifre en az sekiz karakter olmalı ve rakam içermelidir.`},
	{"German", "windows-1252 ISO-8859-15 macintosh IBM850", `Die Verbindung zur Datenbank ist fehlgeschlagen, bitte Einstellungen prüfen. Größe des Puffers in Byte Rückgabewert: Anzahl der Tage zwischen zwei Daten.
Gestern hat er nachmittags drei Stunden lang in der Bücherei gelesen. Schließt das Fenster Überprüfung hinzugefügt Heute ist schönes Wetter, lasst uns im Park spazieren gehen.
Achtung: hier darf nicht gelöscht werden, sonst funktionieren andere Module nicht. Das Kennwort muss mindestens acht Zeichen haben, für Prüfzwecke genügt weniger.`},
	{"French", "windows-1252 ISO-8859-15 macintosh IBM850", `La connexion à la base de données a échoué, vérifiez le fichier de réglages. Si l'utilisateur n'est pas connecté, on va à la page d'accueil.
Renvoie le nombre de jours écoulés entre deux dates. Libère la mémoire Lecture du fichier ligne à ligne Hier après-midi il a lu trois heures à la bibliothèque.
Corrigé : plantage à la fermeture de la fenêtre Aujourd'hui il fait très beau, allons nous promener. Le mot de passe doit être composé d'au moins huit caractères.`},
	{"Spanish", "windows-1252 ISO-8859-15 macintosh IBM850", `No se pudo establecer la conexión con la base de datos, revise la configuración. Si el usuario no inició sesión, vamos a la página principal.
La función devuelve el número de días entre dos fechas. Tamaño del búfer Lee el archivo línea por línea Ayer leyó tres horas en la biblioteca y mañana volverá.
¿Por qué falla aquí? Atención: no se puede borrar, dañaría otros módulos. La contraseña tendrá como mínimo ocho caracteres y algún dígito.`},
	{"Portuguese", "windows-1252 IBM850", `Não foi possível ligar à base de dados, verifique o ficheiro de configuração. Se o utilizador não iniciou sessão, vamos para a página inicial.
A função devolve o número de dias entre duas datas. Libertar memória Lê o ficheiro linha a linha Amanhã ele lerá três horas na biblioteca.
Atenção: não se pode apagar aqui, isso afeta outros módulos. A senha deve ter no mínimo oito caracteres, incluindo números e símbolos.`},
	{"Italian", "windows-1252 macintosh", `Non è stato possibile collegarsi alla base di dati, perché il file non c'è più. La funzione restituirà il numero di giorni tra due date.
Oggi il tempo è bello, però domani pioverà. Attenzione: così si può cancellare tutto, anche ciò che serve già ad altri. La libertà è una necessità della società.`},
	{"Swedish", "windows-1252 IBM850", `Det går inte att ansluta till databasen, kontrollera inställningarna. Om användaren inte är inloggad går vi till förstasidan.
Funktionen räknar hur många dagar som ligger emellan. Frigör minne Läs filen rad för rad I går läste han i tre timmar på biblioteket.
Idag är det vackert väder, låt oss gå ut på en promenad. Lösenordet måste ha minst åtta tecken.`},
	{"Polish", "windows-1250 ISO-8859-2 IBM852", `Nie można połączyć się z bazą danych, sprawdź plik ustawień. Jeśli użytkownik nie jest zalogowany, przejdź na stronę główną.
Funkcja zwraca liczbę dni między dwiema datami. Zwolnij pamięć Czytamy plik wiersz po wierszu Wczoraj po południu czytał książkę przez trzy godziny.
Naprawiono błąd przy zamykaniu okna Dziś jest ładna pogoda, chodźmy na spacer. Hasło musi mieć co najmniej osiem znaków i zawierać cyfrę.`},
	{"Czech", "windows-1250 ISO-8859-2 IBM852", `Nelze se připojit k databázi, zkontrolujte soubor s nastavením. Pokud uživatel není přihlášen, přejdeme na úvodní stránku.
Funkce vrací počet dnů mezi dvěma daty. Uvolnění paměti Čteme soubor řádek po řádku Včera odpoledne četl tři hodiny v knihovně.
Opraven pád při zavření okna Dnes je hezké počasí, pojďme se projít do parku. Heslo musí mít nejméně osm znaků a obsahovat číslici.`},
	{"Hungarian", "windows-1250 ISO-8859-2", `Nem sikerült csatlakozni az adatbázishoz, ellenőrizze a beállításokat. Ha a felhasználó nincs bejelentkezve, a kezdőlapra lépünk.
A függvény a két dátum közötti napok számát adja vissza. Memória felszabadítása Soronként olvassuk a fájlt Tegnap délután három órát olvasott a könyvtárban.
Ma szép idő van, menjünk sétálni a parkba. A jelszó legalább nyolc karakter hosszú legyen, és tartalmazzon számot is.`},
	{"Romanian", "windows-1250 ISO-8859-2", `Nu s-a putut stabili legătura cu baza de date, verificaţi fişierul de configurare. Dacă utilizatorul nu este autentificat, mergem la pagina principală.
Funcţia întoarce numărul de zile dintre două date. Eliberează memoria Citeşte fişierul linie cu linie Ieri după-amiază a citit trei ore în bibliotecă.
Astăzi vremea este frumoasă, să mergem la plimbare. Parola trebuie să aibă cel puţin opt caractere şi să conţină cifre.`},
	{"Lithuanian", "windows-1257 ISO-8859-13", `Nepavyko prisijungti prie duomenų bazės, patikrinkite nustatymų failą. Jei naudotojas neprisijungęs, pereiname į pradžios puslapį.
Funkcija grąžina dienų skaičių tarp dviejų datų. Atlaisvinti atmintį Skaitome failą po vieną eilutę Vakar jis tris valandas skaitė knygą bibliotekoje.
Šiandien gražus oras, eikime pasivaikščioti. Slaptažodį turi sudaryti bent aštuoni ženklai.`},
}

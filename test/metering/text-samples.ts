/**
 * Ordinary prose and code in languages for which estimates hold. `tokens`: those of o200k_base, counted once by
 * `countTokens` of gpt-tokenizer 4.0.0 (`gpt-tokenizer/encoding/o200k_base`).
 */
export const SAMPLES: readonly { readonly name: string; readonly text: string; readonly tokens: number }[] = [
  {
    name: 'English',
    text: `The train was late again, and nobody on the platform seemed surprised. An old man unfolded his newspaper, looked at the clock, and folded it again. Two students argued about a film that neither of them had finished. When the loudspeaker finally promised arrival in ten minutes, somebody laughed. I had a meeting at nine, a presentation I had rewritten three times during the night, and a colleague who never answers messages before lunch. So I bought another coffee and opened my notes. The first chart showed how many orders we had shipped since January; the second explained why half of them came back. If you ask customers what they want, they will tell you about the price. If you watch them, you learn that they mostly want to be left alone until something breaks.`,
    tokens: 154,
  },
  {
    name: 'German',
    text: `Der Zug hatte wieder Verspätung, und niemand auf dem Bahnsteig schien überrascht zu sein. Ein alter Mann faltete seine Zeitung auseinander, sah auf die Uhr und faltete sie wieder zusammen. Zwei Studentinnen stritten über einen Film, den keine von beiden zu Ende gesehen hatte. Als der Lautsprecher endlich die Ankunft in zehn Minuten versprach, lachte jemand. Ich hatte um neun eine Besprechung, einen Vortrag, den ich in der Nacht dreimal umgeschrieben hatte, und einen Kollegen, der vor dem Mittagessen grundsätzlich keine Nachrichten beantwortet. Also holte ich mir noch einen Kaffee und öffnete meine Aufzeichnungen. Das erste Diagramm zeigte, wie viele Bestellungen wir seit Januar verschickt hatten; das zweite erklärte, warum die Hälfte davon zurückkam. Für die Geschwindigkeitsmessung hatten wir außerdem eine Vergleichsgruppe gebildet.`,
    tokens: 178,
  },
  {
    name: 'French',
    text: `Le train avait encore du retard, et personne sur le quai ne semblait surpris. Un vieil homme déplia son journal, regarda l'horloge, puis le replia. Deux étudiantes se disputaient à propos d'un film qu'aucune des deux n'avait terminé. Lorsque le haut-parleur annonça enfin l'arrivée dans dix minutes, quelqu'un éclata de rire. J'avais une réunion à neuf heures, une présentation réécrite trois fois pendant la nuit et un collègue qui ne répond jamais aux messages avant le déjeuner. J'ai donc acheté un autre café et ouvert mes notes. Le premier graphique montrait combien de commandes nous avions expédiées depuis janvier ; le deuxième expliquait pourquoi la moitié d'entre elles nous étaient revenues. Si l'on demande aux clients ce qu'ils veulent, ils parlent du prix ; si on les observe, on comprend qu'ils veulent surtout être tranquilles.`,
    tokens: 186,
  },
  {
    name: 'Spanish',
    text: `El tren llegaba tarde otra vez y nadie en el andén parecía sorprendido. Un anciano desplegó el periódico, miró el reloj y volvió a doblarlo. Dos estudiantes discutían sobre una película que ninguna de las dos había terminado de ver. Cuando por fin el altavoz prometió la llegada en diez minutos, alguien se echó a reír. Yo tenía una reunión a las nueve, una presentación que había reescrito tres veces durante la noche y un compañero que nunca contesta a los mensajes antes de comer. Así que compré otro café y abrí mis apuntes. El primer gráfico mostraba cuántos pedidos habíamos enviado desde enero; el segundo explicaba por qué la mitad de ellos había vuelto. Si preguntas a los clientes qué quieren, te hablarán del precio; si los observas, aprendes que casi siempre prefieren que los dejen en paz.`,
    tokens: 183,
  },
  {
    name: 'Italian',
    text: `Il treno era di nuovo in ritardo e nessuno sulla banchina sembrava sorpreso. Un vecchio aprì il giornale, guardò l'orologio e lo ripiegò. Due studentesse litigavano per un film che nessuna delle due aveva finito di vedere. Quando l'altoparlante promise finalmente l'arrivo entro dieci minuti, qualcuno scoppiò a ridere. Avevo una riunione alle nove, una presentazione riscritta tre volte durante la notte e un collega che non risponde mai ai messaggi prima di pranzo. Così comprai un altro caffè e aprii i miei appunti. Il primo grafico mostrava quanti ordini avevamo spedito da gennaio; il secondo spiegava perché metà di essi erano tornati indietro. Se chiedi ai clienti che cosa vogliono, ti parlano del prezzo; se li osservi, impari che vogliono soprattutto essere lasciati in pace finché qualcosa non si rompe.`,
    tokens: 215,
  },
  {
    name: 'Portuguese',
    text: `O comboio estava outra vez atrasado e ninguém na plataforma parecia surpreendido. Um homem idoso abriu o jornal, olhou para o relógio e voltou a dobrá-lo. Duas estudantes discutiam sobre um filme que nenhuma delas tinha acabado de ver. Quando o altifalante prometeu finalmente a chegada dentro de dez minutos, alguém se riu. Eu tinha uma reunião às nove, uma apresentação que reescrevera três vezes durante a noite e um colega que nunca responde às mensagens antes do almoço. Comprei então mais um café e abri as minhas anotações. O primeiro gráfico mostrava quantas encomendas tínhamos enviado desde janeiro; o segundo explicava porque é que metade delas tinha sido devolvida. Se perguntarmos aos clientes o que querem, falam do preço; se os observarmos, percebemos que querem sobretudo que os deixem em paz.`,
    tokens: 181,
  },
  {
    name: 'Dutch',
    text: `De trein had weer vertraging en niemand op het perron leek verbaasd. Een oude man vouwde zijn krant open, keek op de klok en vouwde hem weer dicht. Twee studentes maakten ruzie over een film die geen van beiden had uitgekeken. Toen de luidspreker eindelijk de aankomst over tien minuten beloofde, begon iemand te lachen. Ik had om negen uur een vergadering, een presentatie die ik 's nachts drie keer had herschreven en een collega die voor de lunch nooit berichten beantwoordt. Dus kocht ik nog een koffie en opende ik mijn aantekeningen. De eerste grafiek liet zien hoeveel bestellingen we sinds januari hadden verstuurd; de tweede legde uit waarom de helft ervan terugkwam.`,
    tokens: 154,
  },
  {
    name: 'Swedish',
    text: `Tåget var försenat igen, och ingen på perrongen verkade förvånad. En gammal man vek upp sin tidning, tittade på klockan och vek ihop den igen. Två studenter grälade om en film som ingen av dem hade sett färdigt. När högtalaren till slut lovade ankomst om tio minuter var det någon som skrattade. Jag hade ett möte klockan nio, en presentation som jag hade skrivit om tre gånger under natten och en kollega som aldrig svarar på meddelanden före lunch. Så jag köpte en kaffe till och öppnade mina anteckningar. Det första diagrammet visade hur många beställningar vi hade skickat sedan januari; det andra förklarade varför hälften av dem kom tillbaka. Frågar man kunderna vad de vill ha pratar de om priset.`,
    tokens: 188,
  },
  {
    name: 'Danish',
    text: `Toget var forsinket igen, og ingen på perronen virkede overrasket. En gammel mand foldede sin avis ud, kiggede på uret og foldede den sammen igen. To studerende skændtes om en film, som ingen af dem havde set færdig. Da højttaleren endelig lovede ankomst om ti minutter, var der en, der lo. Jeg havde et møde klokken ni, et oplæg, som jeg havde skrevet om tre gange i løbet af natten, og en kollega, der aldrig svarer på beskeder før frokost. Så jeg købte en kaffe til og åbnede mine noter. Det første diagram viste, hvor mange ordrer vi havde sendt siden januar; det andet forklarede, hvorfor halvdelen af dem kom retur.`,
    tokens: 172,
  },
  {
    name: 'Finnish',
    text: `Juna oli taas myöhässä, eikä kukaan laiturilla näyttänyt yllättyneeltä. Vanha mies avasi sanomalehtensä, katsoi kelloa ja taittoi lehden uudelleen kokoon. Kaksi opiskelijaa kiisteli elokuvasta, jota kumpikaan ei ollut katsonut loppuun. Kun kovaäänisestä lopulta luvattiin junan saapuvan kymmenen minuutin kuluttua, joku purskahti nauruun. Minulla oli kokous yhdeksältä, esitys, jonka olin kirjoittanut yön aikana kolmesti uusiksi, ja työtoveri, joka ei koskaan vastaa viesteihin ennen lounasta. Ostin siis vielä yhden kahvin ja avasin muistiinpanoni. Ensimmäinen kaavio näytti, kuinka monta tilausta olimme lähettäneet tammikuun jälkeen; toinen selitti, miksi puolet niistä oli palautettu. Jos asiakkailta kysyy, mitä he haluavat, he puhuvat hinnasta.`,
    tokens: 226,
  },
  {
    name: 'Hungarian',
    text: `A vonat megint késett, és a peronon senki sem tűnt meglepettnek. Egy öregember széthajtotta az újságját, az órára nézett, majd újra összehajtotta. Két egyetemista egy filmen vitatkozott, amelyet egyikük sem nézett végig. Amikor a hangosbemondó végre tíz percen belüli érkezést ígért, valaki felnevetett. Kilencre megbeszélésem volt, egy előadással, amelyet az éjszaka során háromszor is átírtam, és egy munkatárssal, aki ebéd előtt soha nem válaszol az üzenetekre. Vettem hát még egy kávét, és kinyitottam a jegyzeteimet. Az első ábra azt mutatta, hány megrendelést küldtünk ki január óta; a második azt magyarázta, miért érkezett vissza a felük. Ha megkérdezzük az ügyfeleket, mit szeretnének, az árról beszélnek.`,
    tokens: 253,
  },
  {
    name: 'Polish',
    text: `Pociąg znowu się spóźniał i nikt na peronie nie wyglądał na zaskoczonego. Starszy mężczyzna rozłożył gazetę, spojrzał na zegar i złożył ją z powrotem. Dwie studentki kłóciły się o film, którego żadna z nich nie obejrzała do końca. Kiedy głośnik wreszcie obiecał przyjazd za dziesięć minut, ktoś się roześmiał. O dziewiątej miałem spotkanie, prezentację, którą w nocy trzy razy przepisałem, i kolegę, który przed obiadem nigdy nie odpowiada na wiadomości. Kupiłem więc jeszcze jedną kawę i otworzyłem notatki. Pierwszy wykres pokazywał, ile zamówień wysłaliśmy od stycznia; drugi wyjaśniał, dlaczego połowa z nich do nas wróciła. Jeśli zapytać klientów, czego chcą, mówią o cenie; jeśli ich obserwować, widać, że chcą mieć święty spokój.`,
    tokens: 254,
  },
  {
    name: 'Czech',
    text: `Vlak měl zase zpoždění a nikdo na nástupišti nevypadal překvapeně. Starý muž rozložil noviny, podíval se na hodiny a zase je složil. Dvě studentky se hádaly o filmu, který ani jedna z nich nedokoukala. Když reproduktor konečně slíbil příjezd za deset minut, někdo se zasmál. V devět jsem měl schůzku, prezentaci, kterou jsem během noci třikrát přepsal, a kolegu, který před obědem nikdy neodpovídá na zprávy. Koupil jsem si tedy další kávu a otevřel poznámky. První graf ukazoval, kolik objednávek jsme od ledna odeslali; druhý vysvětloval, proč se jich polovina vrátila. Když se zákazníků zeptáte, co chtějí, mluví o ceně; když je pozorujete, zjistíte, že chtějí mít hlavně klid.`,
    tokens: 231,
  },
  {
    name: 'Romanian',
    text: `Trenul întârzia din nou și nimeni de pe peron nu părea surprins. Un bătrân și-a desfăcut ziarul, s-a uitat la ceas și l-a împăturit la loc. Două studente se certau în legătură cu un film pe care niciuna nu îl văzuse până la capăt. Când difuzorul a promis în sfârșit sosirea în zece minute, cineva a izbucnit în râs. Aveam o ședință la ora nouă, o prezentare pe care o rescrisesem de trei ori în timpul nopții și un coleg care nu răspunde niciodată la mesaje înainte de prânz. Așa că mi-am mai cumpărat o cafea și mi-am deschis notițele. Primul grafic arăta câte comenzi expediasem din ianuarie; al doilea explica de ce jumătate dintre ele se întorseseră.`,
    tokens: 216,
  },
  {
    name: 'Croatian',
    text: `Vlak je opet kasnio i nitko na peronu nije izgledao iznenađeno. Stariji je čovjek rastvorio novine, pogledao na sat i ponovno ih presavio. Dvije su se studentice svađale oko filma koji nijedna od njih nije odgledala do kraja. Kad je zvučnik napokon obećao dolazak za deset minuta, netko se nasmijao. U devet sam imao sastanak, prezentaciju koju sam tijekom noći tri puta prepravljao i kolegu koji prije ručka nikad ne odgovara na poruke. Zato sam kupio još jednu kavu i otvorio bilješke. Prvi je grafikon pokazivao koliko smo narudžbi poslali od siječnja; drugi je objašnjavao zašto se polovica njih vratila.`,
    tokens: 182,
  },
  {
    name: 'Turkish',
    text: `Tren yine gecikmişti ve perondaki hiç kimse şaşırmış görünmüyordu. Yaşlı bir adam gazetesini açtı, saate baktı ve gazeteyi yeniden katladı. İki öğrenci, ikisinin de sonuna kadar izlemediği bir film hakkında tartışıyordu. Hoparlör sonunda on dakika içinde varılacağını söylediğinde birisi güldü. Saat dokuzda bir toplantım, gece boyunca üç kez yeniden yazdığım bir sunumum ve öğle yemeğinden önce mesajlara asla cevap vermeyen bir iş arkadaşım vardı. Bu yüzden bir kahve daha aldım ve notlarımı açtım. İlk grafik ocak ayından beri kaç sipariş gönderdiğimizi gösteriyordu; ikincisi bunların yarısının neden geri döndüğünü açıklıyordu. Müşterilere ne istediklerini sorarsanız fiyattan söz ederler.`,
    tokens: 195,
  },
  {
    name: 'Russian',
    text: `Поезд опять опаздывал, и никто на платформе не казался удивлённым. Старик развернул газету, посмотрел на часы и снова её сложил. Две студентки спорили о фильме, который ни одна из них не досмотрела. Когда громкоговоритель наконец пообещал прибытие через десять минут, кто-то засмеялся. В девять у меня было совещание, презентация, которую я за ночь трижды переписал, и коллега, который до обеда никогда не отвечает на сообщения. Поэтому я купил ещё один кофе и открыл свои записи. Первый график показывал, сколько заказов мы отправили с января; второй объяснял, почему половина из них вернулась. Если спросить покупателей, чего они хотят, они заговорят о цене; если за ними наблюдать, становится ясно, что они хотят прежде всего покоя.`,
    tokens: 195,
  },
  {
    name: 'Ukrainian',
    text: `Потяг знову запізнювався, і ніхто на платформі не виглядав здивованим. Літній чоловік розгорнув газету, подивився на годинник і знову її склав. Дві студентки сперечалися про фільм, якого жодна з них не додивилася. Коли гучномовець нарешті пообіцяв прибуття за десять хвилин, хтось засміявся. О дев'ятій у мене була нарада, презентація, яку я за ніч тричі переписав, і колега, який до обіду ніколи не відповідає на повідомлення. Тож я купив ще одну каву й розгорнув свої нотатки. Перший графік показував, скільки замовлень ми відправили від січня; другий пояснював, чому половина з них повернулася. Якщо запитати покупців, чого вони хочуть, вони заговорять про ціну.`,
    tokens: 238,
  },
  {
    name: 'Bulgarian',
    text: `Влакът отново закъсняваше и никой на перона не изглеждаше изненадан. Един възрастен мъж разгърна вестника си, погледна часовника и пак го сгъна. Две студентки спореха за филм, който нито една от тях не беше догледала. Когато високоговорителят най-после обеща пристигане след десет минути, някой се засмя. В девет имах среща, презентация, която през нощта бях преработил три пъти, и колега, който никога не отговаря на съобщения преди обяд. Затова си купих още едно кафе и отворих бележките си. Първата графика показваше колко поръчки сме изпратили от януари насам; втората обясняваше защо половината от тях са се върнали.`,
    tokens: 214,
  },
  {
    name: 'Greek',
    text: `Το τρένο είχε πάλι καθυστέρηση και κανείς στην αποβάθρα δεν έδειχνε έκπληκτος. Ένας ηλικιωμένος άνοιξε την εφημερίδα του, κοίταξε το ρολόι και την ξαναδίπλωσε. Δύο φοιτήτριες μάλωναν για μια ταινία που καμία τους δεν είχε δει ως το τέλος. Όταν το μεγάφωνο υποσχέθηκε επιτέλους άφιξη σε δέκα λεπτά, κάποιος γέλασε. Στις εννέα είχα μια συνάντηση, μια παρουσίαση που την είχα ξαναγράψει τρεις φορές μέσα στη νύχτα και έναν συνάδελφο που ποτέ δεν απαντά σε μηνύματα πριν από το μεσημέρι. Αγόρασα λοιπόν άλλον έναν καφέ και άνοιξα τις σημειώσεις μου. Το πρώτο διάγραμμα έδειχνε πόσες παραγγελίες είχαμε στείλει από τον Ιανουάριο· το δεύτερο εξηγούσε γιατί οι μισές είχαν επιστραφεί.`,
    tokens: 252,
  },
  {
    name: 'Chinese',
    text: `火车又晚点了，站台上似乎没有人感到意外。一位老人打开报纸，看了看钟，又把报纸折了起来。两个女学生在争论一部她们谁都没有看完的电影。当广播终于宣布列车将在十分钟后到达时，有人笑了出来。我九点钟有一个会议，有一份夜里改了三遍的演示稿，还有一位午饭之前从来不回消息的同事。于是我又买了一杯咖啡，打开了我的笔记。第一张图表显示了自一月以来我们发出了多少订单；第二张解释了为什么其中一半被退了回来。如果你问顾客想要什么，他们会跟你谈价格；如果你观察他们，就会发现他们最希望的是在东西坏掉之前不被打扰。我们因此决定先减少提醒邮件的数量，再改进退货页面的说明，并在下个季度重新统计数据。`,
    tokens: 212,
  },
  {
    name: 'Chinese (traditional)',
    text: `火車又誤點了，月臺上似乎沒有人感到意外。一位老人打開報紙，看了看時鐘，又把報紙摺了起來。兩個女學生在爭論一部她們誰都沒有看完的電影。當廣播終於宣布列車將在十分鐘後到達時，有人笑了出來。我九點鐘有一場會議，有一份夜裡改了三遍的簡報，還有一位午餐之前從來不回訊息的同事。於是我又買了一杯咖啡，打開了我的筆記。第一張圖表顯示了自一月以來我們寄出了多少訂單；第二張說明了為什麼其中一半被退了回來。如果你問顧客想要什麼，他們會跟你談價格；如果你觀察他們，就會發現他們最希望的是在東西壞掉之前不受打擾。`,
    tokens: 223,
  },
  {
    name: 'Japanese',
    text: `電車はまた遅れていて、ホームにいる誰も驚いた様子はなかった。老人が新聞を広げ、時計を見て、またたたんだ。二人の女子学生が、どちらも最後まで見ていない映画について言い争っていた。ようやくスピーカーがあと十分で到着すると告げると、誰かが笑い出した。私には九時の会議と、夜のうちに三回も書き直したプレゼンテーションと、昼食の前には決してメッセージに返事をしない同僚がいた。そこで私はもう一杯コーヒーを買い、ノートを開いた。最初のグラフは一月から何件の注文を発送したかを示し、二つ目はなぜその半分が返品されたのかを説明していた。お客様に何が欲しいかを尋ねると、値段の話をする。けれども様子を見ていると、何かが壊れるまでそっとしておいてほしいのだと分かる。`,
    tokens: 256,
  },
  {
    name: 'Korean',
    text: `기차는 또 늦었고, 승강장에 있는 누구도 놀란 것 같지 않았다. 한 노인이 신문을 펼치고 시계를 보더니 다시 접었다. 여학생 두 명은 둘 다 끝까지 보지 않은 영화를 두고 다투고 있었다. 마침내 스피커에서 십 분 뒤에 도착한다고 안내하자 누군가가 웃음을 터뜨렸다. 나에게는 아홉 시 회의와 밤사이에 세 번이나 고쳐 쓴 발표 자료, 그리고 점심 전에는 절대로 메시지에 답하지 않는 동료가 있었다. 그래서 나는 커피를 한 잔 더 사고 노트를 펼쳤다. 첫 번째 도표는 일월부터 우리가 얼마나 많은 주문을 발송했는지를 보여 주었고, 두 번째는 왜 그중 절반이 되돌아왔는지를 설명했다. 고객에게 무엇을 원하는지 물으면 가격 이야기를 한다.`,
    tokens: 201,
  },
  {
    name: 'JSON',
    text: `{
  "order": {
    "id": "ord_7f3a91c2e4",
    "created_at": "2026-03-14T09:26:53.589Z",
    "currency": "EUR",
    "customer": { "id": 48213, "name": "Anna Keller", "email": "anna.keller@example.com", "is_active": true },
    "items": [
      { "sku": "KB-104-DE", "title": "Mechanical keyboard", "quantity": 1, "unit_price": 129.9, "tags": ["office", "usb-c"] },
      { "sku": "MS-220", "title": "Wireless mouse", "quantity": 2, "unit_price": 34.5, "tags": [] }
    ],
    "shipping": { "method": "express", "address": { "street": "Hauptstrasse 12", "zip": "80331", "city": "Munich" } },
    "total": 198.9,
    "discount": null
  },
  "request_id": "01HV9Z6W3K8Q2T5N7B4XJ0M6PC",
  "next_cursor": "eyJvZmZzZXQiOjUwLCJsaW1pdCI6MjV9"
}`,
    tokens: 293,
  },
  {
    name: 'JSON of a tool schema, compact',
    text: `[{"type":"function","function":{"name":"get_weather","description":"Returns the current weather and the forecast for a city.","parameters":{"type":"object","properties":{"city":{"type":"string","description":"Name of the city, with its country if ambiguous"},"unit":{"type":"string","enum":["celsius","fahrenheit"],"default":"celsius"},"days":{"type":"integer","minimum":1,"maximum":14}},"required":["city"],"additionalProperties":false}}},{"type":"function","function":{"name":"search_orders","description":"Finds orders by customer, status and date.","parameters":{"type":"object","properties":{"customer_id":{"type":"integer"},"status":{"type":"array","items":{"type":"string","enum":["open","paid","shipped","returned"]}},"created_after":{"type":"string","format":"date-time"}},"required":["customer_id"]}}}]`,
    tokens: 185,
  },
  {
    name: 'TypeScript',
    text: `import { readFile } from 'node:fs/promises';

export interface CacheOptions<Key> {
  readonly maxEntries: number;
  readonly ttlMs?: number;
  onEvicted?(key: Key): void;
}

/** Keeps the entries that were used last. */
export class LruCache<Key, Value> {
  readonly #entries = new Map<Key, { value: Value; expiresAt: number }>();
  readonly #options: CacheOptions<Key>;

  constructor(options: CacheOptions<Key>) {
    this.#options = options;
  }

  get(key: Key): Value | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    this.#entries.delete(key);
    if (entry.expiresAt <= Date.now()) return undefined;
    this.#entries.set(key, entry);
    return entry.value;
  }

  set(key: Key, value: Value): void {
    const { ttlMs = Number.POSITIVE_INFINITY, maxEntries } = this.#options;
    this.#entries.set(key, { value, expiresAt: Date.now() + ttlMs });
    if (this.#entries.size <= maxEntries) return;
    const [oldest] = this.#entries.keys();
    if (oldest !== undefined) this.#entries.delete(oldest);
  }
}

export async function loadConfig(path: string): Promise<Record<string, unknown>> {
  const text = await readFile(path, 'utf8');
  return JSON.parse(text.replace(/^\\s*\\/\\/.*$/gm, '')) as Record<string, unknown>;
}
`,
    tokens: 325,
  },
  {
    name: 'Python',
    text: `import argparse
import csv
from collections import defaultdict
from pathlib import Path


def read_rows(path: Path, delimiter: str = ";"):
    """Yields the rows of a CSV file as dictionaries, without blank ones."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        for row in csv.DictReader(file, delimiter=delimiter):
            if any(value.strip() for value in row.values() if value):
                yield row


class Totals:
    def __init__(self):
        self.by_country = defaultdict(float)
        self.skipped = 0

    def add(self, row):
        try:
            amount = float(row["amount"].replace(",", "."))
        except (KeyError, ValueError):
            self.skipped += 1
            return
        self.by_country[row.get("country", "??").upper()] += amount


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--top", type=int, default=10)
    args = parser.parse_args()
    totals = Totals()
    for path in args.files:
        for row in read_rows(path):
            totals.add(row)
    ranked = sorted(totals.by_country.items(), key=lambda item: -item[1])
    for country, amount in ranked[: args.top]:
        print(f"{country:>4} {amount:12,.2f}")


if __name__ == "__main__":
    main()
`,
    tokens: 317,
  },
  {
    name: 'HTML with CSS',
    text: `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <title>Orders</title>
    <style>
      body { margin: 0 auto; max-width: 60rem; font: 16px/1.5 system-ui, sans-serif; color: #1f2933; }
      table { border-collapse: collapse; width: 100%; }
      td, th { padding: 0.5rem 0.75rem; border-bottom: 1px solid #d9e2ec; text-align: left; }
      .is-late { background-color: rgba(220, 38, 38, 0.08); }
    </style>
  </head>
  <body>
    <h1>Orders</h1>
    <p class="hint">Click a column to sort. <a href="/orders/export.csv?year=2026">Download as CSV</a></p>
    <table id="orders">
      <thead><tr><th>Number</th><th>Customer</th><th>Total</th></tr></thead>
      <tbody><tr class="is-late"><td>10482</td><td>Anna Keller</td><td>198.90 &euro;</td></tr></tbody>
    </table>
  </body>
</html>
`,
    tokens: 293,
  },
  {
    name: 'SQL and a shell',
    text: `WITH monthly AS (
  SELECT account_id, date_trunc('month', created_at) AS month, sum(amount) AS spent, count(*) AS calls
  FROM ledger_entries
  WHERE kind = 'charge' AND created_at >= now() - interval '12 months'
  GROUP BY account_id, month
)
SELECT a.id, a.name, m.month, m.spent, m.calls,
       lag(m.spent) OVER (PARTITION BY a.id ORDER BY m.month) AS before
FROM monthly m JOIN accounts a ON a.id = m.account_id
ORDER BY m.month DESC, m.spent DESC LIMIT 50;

$ docker compose up -d --build gateway redis postgres
$ for id in $(psql -At -c "select id from accounts where is_active"); do
>   curl -fsS -H "Authorization: Bearer $ADMIN_TOKEN" "http://localhost:8080/api/admin/accounts/$id/" | jq '.balance'
> done
$ tail -n 200 /var/log/gateway.log | grep -v '"level":30' | sort | uniq -c | sort -rn | head -20
`,
    tokens: 239,
  },
  {
    name: 'Markdown of an assistant',
    text: `## How to speed up the query

There are **three** things worth trying, in this order:

1. **Add an index** on \`(account_id, created_at)\`. Right now the planner reads the whole table:
   \`\`\`sql
   CREATE INDEX CONCURRENTLY ledger_by_account ON ledger_entries (account_id, created_at DESC);
   \`\`\`
2. **Avoid \`SELECT *\`** — you only need four of the 23 columns, and one of them is a large JSON document.
3. **Paginate by key**, not by offset. \`OFFSET 100000\` still has to read 100,000 rows before it can skip them.

| Change | Before | After |
|--------|-------:|------:|
| Index | 1,840 ms | 12 ms |
| Columns | 12 ms | 9 ms |

> ⚠️ Run the migration outside business hours: building the index takes about 4 minutes. 🚀

Would you like me to write the migration for you?`,
    tokens: 209,
  },
];

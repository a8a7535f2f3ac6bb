// What the page says, in the languages of the bundled model: in the first of the browser's that is there.

const LANGUAGES = ['en', 'de', 'fr', 'ja', 'zh'];

/** The language that the page speaks. */
export const locale = (globalThis.navigator?.languages ?? ['en']).map((tag) => tag.split('-')[0].toLowerCase()).find((code) => LANGUAGES.includes(code)) ?? 'en';

// Each line: English, which the page's code and HTML have, then the others in the order above.
const WORDS = [
  // The page
  ['dragoman: translate', 'dragoman: Übersetzen', 'dragoman : traduire', 'dragoman: 翻訳', 'dragoman：翻译'],
  ['Translate text between many languages, on your own server.', 'Texte zwischen vielen Sprachen übersetzen, auf dem eigenen Server.', 'Traduire entre de nombreuses langues, sur votre propre serveur.', '自分のサーバーで、多くの言語のテキストを翻訳します。', '在您自己的服务器上进行多语言翻译。'],
  ['Model', 'Modell', 'Modèle', 'モデル', '模型'],
  ['Any model', 'Beliebiges Modell', 'Tout modèle', '任意のモデル', '任意模型'],
  ['Site', 'Seite', 'Site', 'サイト', '网站'],
  ['Dark mode', 'Dunkle Darstellung', 'Mode sombre', 'ダークモード', '深色模式'],
  ['What to translate', 'Was übersetzt wird', 'Que traduire', '翻訳の対象', '翻译对象'],
  ['Text', 'Text', 'Texte', 'テキスト', '文本'],
  ['Documents', 'Dokumente', 'Documents', '文書', '文档'],
  ['Languages', 'Sprachen', 'Langues', '言語', '语言'],
  ['Swap languages and texts', 'Sprachen und Texte tauschen', 'Échanger les langues et les textes', '言語とテキストを入れ替える', '交换语言和文本'],
  ['Text to translate', 'Zu übersetzender Text', 'Texte à traduire', '翻訳するテキスト', '要翻译的文本'],
  ['Type or paste text', 'Text eingeben oder einfügen', 'Saisissez ou collez un texte', 'テキストを入力または貼り付け', '输入或粘贴文本'],
  ['The translation appears as you type. Control or Command with Enter translates at once.', 'Die Übersetzung erscheint beim Tippen. Strg oder Befehl mit Eingabe übersetzt sofort.', 'La traduction apparaît pendant la saisie. Ctrl ou Commande avec Entrée traduit tout de suite.', '入力中に翻訳が表示されます。Control または Command と Enter ですぐに翻訳します。', '输入时即显示译文。按 Control 或 Command 加 Enter 立即翻译。'],
  ['{count} character', '{count} Zeichen', '{count} caractère', '{count} 文字', '{count} 个字符'],
  ['{count} characters', '{count} Zeichen', '{count} caractères', '{count} 文字', '{count} 个字符'],
  ['Clear', 'Leeren', 'Effacer', '消去', '清空'],
  ['Translation', 'Übersetzung', 'Traduction', '翻訳', '译文'],
  ['Arrow keys move between sentences and show where each comes from. Enter shows other translations of a sentence, F2 edits it.', 'Pfeiltasten gehen von Satz zu Satz und zeigen, woher jeder stammt. Eingabe zeigt andere Übersetzungen eines Satzes, F2 bearbeitet ihn.', 'Les flèches passent d’une phrase à l’autre et montrent son origine. Entrée montre d’autres traductions d’une phrase, F2 la modifie.', '矢印キーで文を移動し、原文を示します。Enter で文の別の訳を表示し、F2 で編集します。', '方向键在句子间移动并显示其原文。Enter 显示句子的其他译法，F2 编辑。'],
  ['Translations of this sentence', 'Übersetzungen dieses Satzes', 'Traductions de cette phrase', 'この文の訳', '此句的译文'],
  ['Edit this sentence', 'Diesen Satz bearbeiten', 'Modifier cette phrase', 'この文を編集', '编辑此句'],
  ['Your translation of this sentence', 'Ihre Übersetzung dieses Satzes', 'Votre traduction de cette phrase', 'この文のあなたの訳', '您对此句的译文'],
  ['Use this translation', 'Diese Übersetzung verwenden', 'Utiliser cette traduction', 'この訳を使う', '使用此译文'],
  ['Use and remember', 'Verwenden und merken', 'Utiliser et retenir', '使って記憶', '使用并记住'],
  ['Looking for other translations', 'Andere Übersetzungen werden gesucht', 'Recherche d’autres traductions', '別の訳を探しています', '正在查找其他译文'],
  ['There are no other translations.', 'Es gibt keine anderen Übersetzungen.', 'Il n’y a pas d’autre traduction.', '別の訳はありません。', '没有其他译文。'],
  ['About this translation', 'Zu dieser Übersetzung', 'À propos de cette traduction', 'この翻訳について', '关于此译文'],
  ['Glossary', 'Glossar', 'Glossaire', '用語集', '术语表'],
  ['No glossary', 'Kein Glossar', 'Aucun glossaire', '用語集なし', '不使用术语表'],
  ['Cancel', 'Abbrechen', 'Annuler', 'キャンセル', '取消'],
  ['Copy', 'Kopieren', 'Copier', 'コピー', '复制'],
  ['Copied', 'Kopiert', 'Copié', 'コピーしました', '已复制'],
  ['Copied to the clipboard', 'In die Zwischenablage kopiert', 'Copié dans le presse-papiers', 'クリップボードにコピーしました', '已复制到剪贴板'],
  ['The browser does not allow this: select the text and copy it', 'Der Browser lässt das nicht zu: Text markieren und kopieren', 'Le navigateur ne le permet pas : sélectionnez le texte et copiez-le', 'ブラウザーが許可していません。テキストを選択してコピーしてください', '浏览器不允许此操作：请选择文本并复制'],
  ['Choose documents', 'Dokumente auswählen', 'Choisir des documents', '文書を選択', '选择文档'],
  [', or drop them here', ' oder hier ablegen', ', ou les déposer ici', 'するか、ここにドロップ', '，或拖放到此处'],
  ['All kinds of files', 'Alle Dateiarten', 'Tous les types de fichiers', 'すべてのファイル形式', '所有文件类型'],
  ['{kinds} and more', '{kinds} und mehr', '{kinds} et autres', '{kinds} など', '{kinds}等'],
  ['text', 'Text', 'texte', 'テキスト', '文本'],
  ['tables', 'Tabellen', 'tableaux', '表', '表格'],
  ['subtitles', 'Untertitel', 'sous-titres', '字幕', '字幕'],
  ['messages of programs', 'Texte von Programmen', 'messages de programmes', 'プログラムのメッセージ', '程序消息'],
  ['Made by a machine, so check what matters. Your text goes to this server only.', 'Maschinell übersetzt: Prüfen Sie, worauf es ankommt. Ihr Text geht nur an diesen Server.', 'Traduit par une machine : vérifiez ce qui importe. Votre texte ne va qu’à ce serveur.', '機械による翻訳です。重要な内容は確認してください。テキストはこのサーバーにのみ送られます。', '机器翻译，重要内容请核对。您的文本只发送到此服务器。'],
  ['translates at once', 'übersetzt sofort', 'traduit tout de suite', 'ですぐに翻訳', '立即翻译'],
  ['or', 'oder', 'ou', 'または', '或'],
  // Languages
  ['Loading…', 'Wird geladen …', 'Chargement…', '読み込み中…', '加载中…'],
  ['Translate from', 'Übersetzen aus', 'Traduire de', '翻訳元', '源语言'],
  ['Translate to', 'Übersetzen in', 'Traduire vers', '翻訳先', '目标语言'],
  ['{label}, type to search', '{label}, zum Suchen tippen', '{label}, saisir pour chercher', '{label}、入力して検索', '{label}，输入以搜索'],
  ['Search languages', 'Sprachen suchen', 'Chercher une langue', '言語を検索', '搜索语言'],
  ['Detect language', 'Sprache erkennen', 'Détecter la langue', '言語を検出', '检测语言'],
  ['{language} (detected)', '{language} (erkannt)', '{language} (détecté)', '{language}（検出）', '{language}（检测到）'],
  ['Recent', 'Zuletzt', 'Récentes', '最近', '最近使用'],
  ['All languages', 'Alle Sprachen', 'Toutes les langues', 'すべての言語', '所有语言'],
  ['No language fits.', 'Keine Sprache passt.', 'Aucune langue ne correspond.', '該当する言語はありません。', '没有匹配的语言。'],
  // History
  ['History', 'Verlauf', 'Historique', '履歴', '历史记录'],
  ['Keep the last 50 texts in this browser', 'Die letzten 50 Texte in diesem Browser aufbewahren', 'Garder les 50 derniers textes dans ce navigateur', '最近の 50 件のテキストをこのブラウザーに保存', '在此浏览器中保留最近 50 段文本'],
  ['There are no texts.', 'Es gibt keine Texte.', 'Il n’y a pas de texte.', 'テキストはありません。', '没有文本。'],
  ['Clear history', 'Verlauf löschen', 'Effacer l’historique', '履歴を消去', '清除历史记录'],
  ['Close', 'Schließen', 'Fermer', '閉じる', '关闭'],
  ['{from} → {to}', '{from} → {to}', '{from} → {to}', '{from} → {to}', '{from} → {to}'],
  // Progress and faults of a translation
  ['Translating', 'Wird übersetzt', 'Traduction en cours', '翻訳中', '正在翻译'],
  ['Translating, {done} of {total} lines', 'Wird übersetzt, {done} von {total} Zeilen', 'Traduction en cours, {done} lignes sur {total}', '翻訳中、{total} 行中 {done} 行', '正在翻译，第 {done} 行，共 {total} 行'],
  ['{subject} {faults}.', '{subject} {faults}.', '{subject} {faults}.', '{subject}{faults}。', '{subject}{faults}。'],
  ['This translation', 'Diese Übersetzung', 'Cette traduction', 'この翻訳は', '此译文'],
  ['Line {number}', 'Zeile {number}', 'La ligne {number}', '{number} 行目は', '第 {number} 行'],
  ['Translated by way of {language}.', 'Übersetzt über {language}.', 'Traduit en passant par : {language}.', '{language}を介した翻訳です。', '经由{language}翻译。'],
  ['{count} more lines have such faults.', '{count} weitere Zeilen haben solche Fehler.', '{count} autres lignes ont de tels défauts.', 'ほかに {count} 行に同様の問題があります。', '另有 {count} 行存在此类问题。'],
  ['The text is in {language} already.', 'Der Text ist bereits auf {language}.', 'Le texte est déjà en {language}.', 'テキストはすでに{language}です。', '文本已是{language}。'],
  ['may be incomplete', 'ist vielleicht unvollständig', 'est peut-être incomplète', '不完全な可能性があります', '可能不完整'],
  ['may repeat itself', 'wiederholt sich vielleicht', 'se répète peut-être', '繰り返しがある可能性があります', '可能有重复'],
  ['may not be translated', 'ist vielleicht nicht übersetzt', 'n’est peut-être pas traduite', '翻訳されていない可能性があります', '可能未翻译'],
  ['is empty', 'ist leer', 'est vide', '空です', '为空'],
  ['may have more than the translation', 'hat vielleicht mehr als die Übersetzung', 'contient peut-être plus que la traduction', '訳文以外の文が含まれている可能性があります', '可能含有译文以外的内容'],
  ['may be in another language', 'ist vielleicht in einer anderen Sprache', 'est peut-être dans une autre langue', '別の言語の可能性があります', '可能是其他语言'],
  ['may lack a tag, link or placeholder', 'hat vielleicht ein Element, einen Link oder Platzhalter verloren', 'a peut-être perdu une balise, un lien ou un paramètre', 'タグ、リンク、プレースホルダーが欠けている可能性があります', '可能缺少标签、链接或占位符'],
  ['is the text itself, whose language the model does not translate', 'ist der Text selbst, dessen Sprache das Modell nicht übersetzt', 'est le texte même, dont le modèle ne traduit pas la langue', 'は原文のままです（モデルが訳せない言語です）', '为原文，模型不翻译该语言'],
  ['may lack a term of the glossary', 'hat vielleicht einen Begriff des Glossars nicht', 'n’a peut-être pas un terme du glossaire', '用語集の用語が欠けている可能性があります', '可能缺少术语表中的术语'],
  ['may be wrong ({flag})', 'ist vielleicht falsch ({flag})', 'est peut-être fausse ({flag})', '誤りの可能性があります（{flag}）', '可能有误（{flag}）'],
  ['{first} and {last}', '{first} und {last}', '{first} et {last}', '{first}、{last}', '{first}，{last}'],
  // Documents
  ['Download', 'Herunterladen', 'Télécharger', 'ダウンロード', '下载'],
  ['Download {name}', '{name} herunterladen', 'Télécharger {name}', '{name} をダウンロード', '下载 {name}'],
  ['Remove {name}', '{name} entfernen', 'Retirer {name}', '{name} を削除', '移除 {name}'],
  ['Translation of {name}', 'Übersetzung von {name}', 'Traduction de {name}', '{name} の翻訳', '{name} 的翻译'],
  ['Target language: {language}', 'Zielsprache: {language}', 'Langue cible : {language}', '翻訳先: {language}', '目标语言：{language}'],
  ['Waiting', 'Wartet', 'En attente', '待機中', '等待中'],
  ['Sending', 'Wird gesendet', 'Envoi', '送信中', '发送中'],
  ['Waiting for its turn', 'Wartet, bis es an der Reihe ist', 'Attend son tour', '順番待ち', '排队中'],
  ['Translating, {done} of {records} texts', 'Wird übersetzt, {done} von {records} Texten', 'Traduction en cours, {done} textes sur {records}', '翻訳中、{records} 件中 {done} 件', '正在翻译，第 {done} 段，共 {records} 段'],
  ['Translated', 'Übersetzt', 'Traduit', '翻訳しました', '已翻译'],
  ['Translated; {flagged} of {records} texts may be wrong', 'Übersetzt; {flagged} von {records} Texten sind vielleicht falsch', 'Traduit ; {flagged} textes sur {records} sont peut-être faux', '翻訳しました。{records} 件中 {flagged} 件に誤りの可能性があります', '已翻译；{records} 段中有 {flagged} 段可能有误'],
  ['There is no text to translate', 'Es gibt keinen Text zum Übersetzen', 'Il n’y a pas de texte à traduire', '翻訳するテキストがありません', '没有可翻译的文本'],
  ['{text}. Texts to which formulas refer stay ({kept}).', '{text}. Texte, auf die sich Formeln beziehen, bleiben ({kept}).', '{text}. Les textes auxquels des formules renvoient restent ({kept}).', '{text}。数式が参照するテキストはそのままです（{kept}）。', '{text}。公式引用的文本保持不变（{kept}）。'],
  ['{text}. The first row stays, for it looks like names.', '{text}. Die erste Zeile bleibt, denn sie sieht nach Namen aus.', '{text}. La première ligne reste, car elle semble faite de noms.', '{text}。先頭の行は名前とみられるため、そのままです。', '{text}。首行像是名称，保持不变。'],
  ['Cancelled', 'Abgebrochen', 'Annulé', 'キャンセルしました', '已取消'],
  ['It could not be translated', 'Es konnte nicht übersetzt werden', 'La traduction a échoué', '翻訳できませんでした', '无法翻译'],
  ['The server does not have it any more.', 'Der Server hat es nicht mehr.', 'Le serveur ne l’a plus.', 'サーバーにはもうありません。', '服务器上已不存在。'],
  ['{problem} This page goes on by itself.', '{problem} Diese Seite macht von selbst weiter.', '{problem} Cette page continue d’elle-même.', '{problem} このページは自動的に続行します。', '{problem} 此页面会自动继续。'],
  // The server
  ['The server gave an answer that makes no sense.', 'Die Antwort des Servers ergibt keinen Sinn.', 'La réponse du serveur n’a pas de sens.', 'サーバーの応答が正しくありません。', '服务器的回答没有意义。'],
  ['The server gave no reason', 'Der Server nennt keinen Grund', 'Le serveur n’a pas donné de raison', 'サーバーは理由を示していません', '服务器未给出原因'],
  ['The server answered with status {status}', 'Der Server antwortet mit Status {status}', 'Le serveur a répondu par le statut {status}', 'サーバーの応答はステータス {status} です', '服务器以状态 {status} 回答'],
  ['This is more than the server allows at once.', 'Das ist mehr, als der Server auf einmal zulässt.', 'C’est plus que le serveur ne permet à la fois.', 'サーバーが一度に許可する量を超えています。', '超出服务器一次允许的数量。'],
  ['The server is restarting.', 'Der Server startet neu.', 'Le serveur redémarre.', 'サーバーは再起動しています。', '服务器正在重启。'],
  ['The server is busy.', 'Der Server ist ausgelastet.', 'Le serveur est occupé.', 'サーバーが混み合っています。', '服务器繁忙。'],
  ['The connection was cut before the translation was complete.', 'Die Verbindung brach ab, bevor die Übersetzung fertig war.', 'La connexion a été coupée avant la fin de la traduction.', '翻訳が終わる前に接続が切れました。', '翻译完成前连接中断。'],
  ['The connection was cut before the document was complete.', 'Die Verbindung brach ab, bevor das Dokument vollständig war.', 'La connexion a été coupée avant la fin du document.', '文書が揃う前に接続が切れました。', '文档完成前连接中断。'],
  ['The server cannot be reached.', 'Der Server ist nicht erreichbar.', 'Le serveur est injoignable.', 'サーバーに接続できません。', '无法连接服务器。'],
  ['You are offline.', 'Sie sind offline.', 'Vous êtes hors ligne.', 'オフラインです。', '您已离线。'],
  ['The server did not translate all of the text.', 'Der Server hat nicht den ganzen Text übersetzt.', 'Le serveur n’a pas traduit tout le texte.', 'サーバーはテキストのすべてを翻訳していません。', '服务器未翻译全部文本。'],
  ['The server left a part of the text out.', 'Der Server hat einen Teil des Textes ausgelassen.', 'Le serveur a omis une partie du texte.', 'サーバーはテキストの一部を省きました。', '服务器遗漏了部分文本。'],
  ['The translation was cancelled.', 'Die Übersetzung wurde abgebrochen.', 'La traduction a été annulée.', '翻訳はキャンセルされました。', '翻译已取消。'],
  ['Try again', 'Noch einmal versuchen', 'Réessayer', '再試行', '重试'],
  ['Try now', 'Jetzt versuchen', 'Essayer maintenant', '今すぐ試す', '立即重试'],
  ['Trying again in {left} s.', 'Neuer Versuch in {left} s.', 'Nouvel essai dans {left} s.', '{left} 秒後に再試行します。', '{left} 秒后重试。'],
  ['The model is loading. This page goes on by itself.', 'Das Modell wird geladen. Diese Seite macht von selbst weiter.', 'Le modèle se charge. Cette page continue d’elle-même.', 'モデルを読み込んでいます。このページは自動的に続行します。', '模型正在加载。此页面会自动继续。'],
  ['The model for these languages is being fetched. This page goes on by itself.', 'Das Modell für diese Sprachen wird geholt. Diese Seite macht von selbst weiter.', 'Le modèle de ces langues est en cours de téléchargement. Cette page continue d’elle-même.', 'この言語のモデルを取得しています。このページは自動的に続行します。', '正在获取这些语言的模型。此页面会自动继续。'],
  ['The server does not translate between these languages.', 'Der Server übersetzt zwischen diesen Sprachen nicht.', 'Le serveur ne traduit pas entre ces langues.', 'サーバーはこの言語の組み合わせを翻訳しません。', '服务器不翻译这些语言。'],
  ['The server does not translate the language of this text.', 'Der Server übersetzt die Sprache dieses Textes nicht.', 'Le serveur ne traduit pas la langue de ce texte.', 'サーバーはこのテキストの言語を翻訳しません。', '服务器不翻译此文本的语言。'],
  ['The glossary has no terms for these languages.', 'Das Glossar hat keine Begriffe für diese Sprachen.', 'Le glossaire n’a pas de termes pour ces langues.', '用語集にこれらの言語の用語はありません。', '术语表中没有这些语言的术语。'],
  ['This took too long.', 'Das hat zu lange gedauert.', 'Cela a pris trop de temps.', '時間がかかりすぎました。', '耗时过长。'],
  ['The server does not translate files of this kind.', 'Der Server übersetzt Dateien dieser Art nicht.', 'Le serveur ne traduit pas ce type de fichier.', 'サーバーはこの形式のファイルを翻訳しません。', '服务器不翻译此类文件。'],
  ['The file cannot be read.', 'Die Datei ist nicht lesbar.', 'Le fichier est illisible.', 'ファイルを読み取れません。', '无法读取文件。'],
  ['The server takes no more documents and long texts now.', 'Der Server nimmt gerade keine Dokumente und langen Texte mehr an.', 'Le serveur n’accepte plus de documents ni de longs textes pour le moment.', 'サーバーは現在、これ以上の文書や長いテキストを受け付けません。', '服务器目前不再接受文档和长文本。'],
  ['The server does not offer this.', 'Der Server bietet das nicht an.', 'Le serveur ne propose pas cela.', 'サーバーはこの機能を提供していません。', '服务器不提供此功能。'],
  ['The model cannot be used now.', 'Das Modell ist gerade nicht benutzbar.', 'Le modèle est inutilisable pour le moment.', 'モデルは現在使えません。', '模型目前无法使用。'],
  ['The translation did not come to its end.', 'Die Übersetzung kam nicht zu ihrem Ende.', 'La traduction n’est pas arrivée à son terme.', '翻訳が最後まで終わりませんでした。', '翻译未能完成。'],
  ['The server failed.', 'Der Server hat einen Fehler.', 'Le serveur a eu une erreur.', 'サーバーでエラーが発生しました。', '服务器出错。'],
  ['The server did not take this.', 'Der Server hat das nicht angenommen.', 'Le serveur ne l’a pas accepté.', 'サーバーは受け付けませんでした。', '服务器未接受。'],
  ['{meaning} (Server: {text})', '{meaning} (Server: {text})', '{meaning} (Serveur : {text})', '{meaning}（サーバー：{text}）', '{meaning}（服务器：{text}）'],
  // Keys
  ['This server translates for those who have an API key.', 'Dieser Server übersetzt für alle, die einen API-Schlüssel haben.', 'Ce serveur traduit pour ceux qui ont une clé d’API.', 'このサーバーの利用には API キーが必要です。', '此服务器仅为持有 API 密钥者翻译。'],
  ['Enter a key', 'Schlüssel eingeben', 'Saisir une clé', 'キーを入力', '输入密钥'],
  ['This server asks for an API key', 'Dieser Server verlangt einen API-Schlüssel', 'Ce serveur demande une clé d’API', 'このサーバーは API キーを求めています', '此服务器需要 API 密钥'],
  ['API key', 'API-Schlüssel', 'Clé d’API', 'API キー', 'API 密钥'],
  ['Use this key', 'Diesen Schlüssel verwenden', 'Utiliser cette clé', 'このキーを使う', '使用此密钥'],
  ['The key that was sent is not accepted. Check it, or ask whoever runs this server.', 'Der gesendete Schlüssel gilt nicht. Prüfen Sie ihn, oder fragen Sie, wer diesen Server betreibt.', 'La clé envoyée n’est pas acceptée. Vérifiez-la, ou demandez à qui gère ce serveur.', '送信したキーは受け付けられません。確認するか、サーバーの管理者に尋ねてください。', '发送的密钥不被接受。请检查，或询问服务器管理者。'],
  ['Ask whoever runs this server for one. The page forgets it when you close the tab.', 'Fragen Sie, wer diesen Server betreibt. Die Seite vergisst ihn, wenn Sie den Tab schließen.', 'Demandez-en une à qui gère ce serveur. La page l’oublie à la fermeture de l’onglet.', 'サーバーの管理者に尋ねてください。タブを閉じるとページはキーを忘れます。', '请向服务器管理者索取。关闭标签页后页面即忘记密钥。'],
  ['A key consists of letters, digits and signs without spaces.', 'Ein Schlüssel besteht aus Buchstaben, Ziffern und Zeichen ohne Leerzeichen.', 'Une clé se compose de lettres, de chiffres et de signes sans espaces.', 'キーは空白のない文字、数字、記号からなります。', '密钥由字母、数字和符号组成，不含空格。'],
];

const index = LANGUAGES.indexOf(locale);
const words = new Map(WORDS.map((line) => [line[0], line[index]]));

/** What the page says in place of English, whose {name} stand for values. */
export function say(english, values = {}) {
  return (words.get(english) ?? english).replace(/\{(\w+)\}/g, (place, name) => values[name] ?? place);
}

const ATTRIBUTES = ['aria-label', 'title', 'placeholder', 'content', 'data-empty'];

/** Puts what an element and those in it say into the page's language. */
export function localize(root) {
  for (const element of root.querySelectorAll('*')) {
    for (const name of ATTRIBUTES) {
      const text = element.getAttribute(name);
      if (words.has(text)) element.setAttribute(name, say(text));
    }
    if (element instanceof HTMLTemplateElement) localize(element.content);
    for (const node of element.childNodes) {
      const text = node.nodeType === Node.TEXT_NODE ? node.data.trim() : '';
      if (words.has(text)) node.data = node.data.replace(text, () => say(text));
    }
  }
}

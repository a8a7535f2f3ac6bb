<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="fr_FR" sourcelanguage="en_US">
<context>
    <name>MainWindow</name>
    <message>
        <location filename="../main.cpp" line="12"/>
        <source>&amp;Open the file</source>
        <comment>menu</comment>
        <extracomment>Opens a dialog</extracomment>
        <translation type="unfinished">&amp;OPEN THE FILE</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Save it now</source>
        <translation type="unfinished">Jetzt speichern?</translation>
    </message>
    <message>
        <source>It was there</source>
        <translation type="vanished"></translation>
    </message>
    <message>
        <source>It was there, too</source>
        <translation type="obsolete"></translation>
    </message>
    <message numerus="yes">
        <source>%n file(s) found</source>
        <translation type="unfinished">
            <numerusform>%n FILE(S) FOUND</numerusform>
            <numerusform>%n FILE(S) FOUND</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n line(s)</source>
        <translation type="unfinished">
            <numerusform>%n Zeile</numerusform>
            <numerusform>%n LINE(S)</numerusform>
        </translation>
    </message>
    <message id="rich">
        <source>&lt;b&gt;Bold&lt;/b&gt; text from %1
over two lines</source>
        <translation type="unfinished">&lt;b&gt;BOLD&lt;/b&gt; TEXT FROM %1
OVER TWO LINES</translation>
    </message>
    <message>
        <source>A bell <byte value="x7"/> rings</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1</source>
        <translation type="unfinished"></translation>
    </message>
</context>
</TS>

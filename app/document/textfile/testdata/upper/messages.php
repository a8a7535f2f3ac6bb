<?php

// Messages of the app
return [
    'welcome' => 'WELCOME, :name',
    "quoted" => "IT'S A \"CHART\"\n",
    'nested' => ['failed' => 'THESE CREDENTIALS DON\'T MATCH.', 'code' => 'auth.failed'],
    'list' => array('RED', 'GREEN'),
    'joined' => 'one ' . $two,
];

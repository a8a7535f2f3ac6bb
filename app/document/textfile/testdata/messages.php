<?php

// Messages of the app
return [
    'welcome' => 'Welcome, :name',
    "quoted" => "It's a \"chart\"\n",
    'nested' => ['failed' => 'These credentials don\'t match.', 'code' => 'auth.failed'],
    'list' => array('Red', 'Green'),
    'joined' => 'one ' . $two,
];

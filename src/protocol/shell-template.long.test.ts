import './shell-template.int.test.ts';

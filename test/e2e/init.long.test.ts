import './init.int.test.ts';

import './merge.int.test.ts';

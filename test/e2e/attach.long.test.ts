import './attach.int.test.ts';

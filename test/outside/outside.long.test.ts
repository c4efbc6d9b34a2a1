import './outside.int.test.ts';

import './stop.int.test.ts';

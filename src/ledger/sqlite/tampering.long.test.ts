import './tampering.int.test.ts';

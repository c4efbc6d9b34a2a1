import './handlers.int.test.ts';

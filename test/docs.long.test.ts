import './docs.test.ts';

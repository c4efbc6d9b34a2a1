import './page-away.int.test.ts';

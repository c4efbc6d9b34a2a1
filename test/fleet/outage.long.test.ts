import './outage.int.test.ts';

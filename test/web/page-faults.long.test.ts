import './page-faults.int.test.ts';

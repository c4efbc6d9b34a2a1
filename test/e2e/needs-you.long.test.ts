import './needs-you.int.test.ts';

import './install.int.test.ts';

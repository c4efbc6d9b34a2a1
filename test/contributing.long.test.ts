import './contributing.int.test.ts';

import './publish.int.test.ts';

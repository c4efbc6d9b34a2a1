import './supervised-terminal.int.test.ts';

import './on-stop-away.int.test.ts';

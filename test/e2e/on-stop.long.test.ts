import './on-stop.int.test.ts';

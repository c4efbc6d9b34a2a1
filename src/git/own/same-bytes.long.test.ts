import './same-bytes.int.test.ts';

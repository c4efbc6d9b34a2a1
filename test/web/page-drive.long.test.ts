import './page-drive.int.test.ts';

import './close-issue.int.test.ts';

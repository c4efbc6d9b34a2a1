import './attack-16-verdicts.int.test.ts';

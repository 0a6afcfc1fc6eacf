import t from 'tap';
import { LONG_HISTORIES, testHistories } from './fixed-histories.ts';

testHistories(t, LONG_HISTORIES);

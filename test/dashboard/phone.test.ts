import t from 'tap';
import { inspectEveryPage } from '../helper/dashboard-tour.ts';

await inspectEveryPage(t, { width: 360, height: 740 });

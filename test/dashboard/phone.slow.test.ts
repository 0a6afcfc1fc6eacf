import t from 'tap';
import { inspectEveryPage } from '../helper/dashboard/dashboard-tour.ts';

await inspectEveryPage(t, { width: 360, height: 740 });

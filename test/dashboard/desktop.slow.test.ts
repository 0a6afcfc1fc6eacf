import t from 'tap';
import { inspectEveryPage } from '../helper/dashboard/dashboard-tour.ts';

await inspectEveryPage(t, {}, ['light', 'dark']);

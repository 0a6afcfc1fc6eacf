import t from 'tap';
import type { CreatedKeyView } from '../../src/domain/key-view.ts';
import { apiOf, refusalOf } from '../helper/api.ts';
import { startWorld } from '../helper/world.ts';

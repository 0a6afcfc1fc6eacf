import type { KeySettings } from '../../src/domain/key.ts';
import { DEFAULT_SETTINGS } from '../../src/domain/key-fields.ts';

/** Settings of a key without any restriction. */
export const OPEN_KEY: KeySettings = {
  name: 'test',
  ...DEFAULT_SETTINGS,
  canManage: true,
};

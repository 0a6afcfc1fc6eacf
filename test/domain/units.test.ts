import { test } from 'tap';
import { UNIT_NAMES, UNITS, unitRow } from '../../src/domain/units.ts';

test('names are of one unit each, and a unit is below the one that it refines', async (t) => {
  for (const fact of ['usage', 'wire', 'column', 'words'] as const) {
    const names = UNIT_NAMES.map((unit) => UNITS[unit][fact]);
    t.same(names, [...new Set(names)], fact);
  }
  for (const [index, unit] of UNIT_NAMES.entries()) {
    const { refines } = unitRow(unit);
    if (refines) t.ok(UNIT_NAMES.slice(0, index).includes(refines), `${unit} refines ${refines}`);
  }
});

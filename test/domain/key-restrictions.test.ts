import { test } from 'tap';
import {
  carriesRestriction,
  KEY_FIELD_NAMES,
  keyField,
  parseKeyPatch,
} from '../../src/domain/key-settings.ts';

const RESTRICTING: Readonly<Record<string, unknown>> = {
  allowed_models: ['m'],
  allowed_categories: ['text'],
  spending_limit: 0,
  spending_limits: [{ period: 'total', credits: 0 }],
  rpm_limit: 1,
  tpm_limit: 1,
  max_parallel_requests: 1,
  active_hours: '08:00-18:00',
  allowed_ips: ['10.0.0.1'],
  allowed_origins: ['https://a.example'],
  blocked_countries: ['FR'],
  expires_at: '1970-01-01T00:00:00Z',
};

for (const [param, value] of Object.entries(RESTRICTING)) {
  test(`${param} restricts`, async (t) => {
    const settings = parseKeyPatch({ [param]: value });
    t.equal(carriesRestriction(settings), true);
  });
}

test('each restriction field is one of these', async (t) => {
  const restricting = KEY_FIELD_NAMES.map(keyField).filter(({ restricts }) => restricts);
  t.same(restricting.map(({ wire }) => wire).sort(), Object.keys(RESTRICTING).sort());
});

test('lifting a restriction does not restrict', async (t) => {
  const lifting = parseKeyPatch({
    name: 'n',
    description: 'd',
    is_active: false,
    can_manage: false,
    expires_at: null,
    allowed_models: [],
    allowed_categories: [],
    spending_limit: null,
    spending_limits: [],
    rpm_limit: null,
    tpm_limit: null,
    max_parallel_requests: null,
    spending_period: 'daily',
    active_hours: '',
    allowed_ips: [],
    allowed_origins: [],
    blocked_countries: [],
    webhook_url: 'https://hooks.example/',
  });
  t.equal(carriesRestriction(lifting), false);
  t.equal(carriesRestriction({}), false);
});

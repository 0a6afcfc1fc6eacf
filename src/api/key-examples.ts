// Example bodies of key requests and answers, for the description of the API.

export const KEY_EXAMPLE = {
  id: 2,
  name: 'web app',
  description: 'for the web team',
  prefix: 'sk-tg-24kV',
  is_active: true,
  expires_at: null,
  allowed_models: ['demo-chat'],
  allowed_categories: [],
  spending_limit: 10,
  spending_current: '0.020084',
  spending_period: 'monthly',
  active_hours: '08:00-18:00',
  allowed_ips: [],
  allowed_origins: ['https://*.example.com'],
  blocked_countries: [],
  webhook_url: '',
  created_at: '2026-11-21T08:00:00.000Z',
  can_manage: false,
  version: 3,
};

export const OWN_KEY_EXAMPLE = {
  ...KEY_EXAMPLE,
  limit_remaining: '9.979916',
  period_ends_at: '2026-12-01T00:00:00.000Z',
};

export const CREATED_KEY_EXAMPLE = {
  id: 2,
  name: 'web app',
  prefix: 'sk-tg-24kV',
  key: 'sk-tg-24kV…',
  created_at: '2026-11-21T08:00:00.000Z',
  _service: { note: 'Save this key now: it is not stored and will not be shown again.' },
};

export const NEW_KEY_EXAMPLES = {
  plain: { summary: 'Without restrictions', value: { name: 'web app', description: 'for the web team' } },
  restricted: {
    summary: 'To be handed out',
    value: {
      name: 'kiosk',
      expires_at: '2030-01-31T12:00:00+01:00',
      allowed_models: ['demo-chat'],
      allowed_categories: ['text'],
      spending_limit: 0.5,
      spending_period: 'daily',
      active_hours: '22:00-06:00',
      allowed_ips: ['203.0.113.0/24', '2001:db8::1'],
      allowed_origins: ['https://kiosk.example.com'],
      blocked_countries: ['KP'],
      webhook_url: 'https://hooks.example.com/credits',
    },
  },
};

export const KEY_PATCH_EXAMPLES = {
  limit: { summary: 'Limit the spending', value: { spending_limit: 10, spending_period: 'monthly' } },
  reactivate: { summary: 'Bring a deleted key back', value: { is_active: true } },
  restrict: {
    summary: 'Restrict to pages and hours',
    value: { allowed_origins: ['https://*.example.com'], active_hours: '08:00-18:00' },
  },
};

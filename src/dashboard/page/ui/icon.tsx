/** Paths of the icons in a square of 16, drawn as lines. */
const PATHS: Readonly<Record<string, string>> = {
  home: 'M2 7.5 8 2l6 5.5M3.5 6.5V14h9V6.5M6.5 14v-4h3v4',
  accounts: 'M2 14V3h7v11M9 6h5v8M1 14h14M4.5 6h2M4.5 9h2M11.5 9v0M11.5 11.5v0',
  people:
    'M6 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5M1.5 14c0-2.5 2-4.5 4.5-4.5s4.5 2 4.5 4.5M10.5 3a2.5 2.5 0 0 1 0 4.5M12 9.8c1.6.7 2.5 2.3 2.5 4.2',
  members:
    'M6 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5M1.5 14c0-2.5 2-4.5 4.5-4.5s4.5 2 4.5 4.5M10.5 3a2.5 2.5 0 0 1 0 4.5M12 9.8c1.6.7 2.5 2.3 2.5 4.2',
  requests: 'M2 4h1M2 8h1M2 12h1M5.5 4H14M5.5 8H14M5.5 12H14',
  usage: 'M2 14h12M3.5 11.5v-4M7 11.5v-8M10.5 11.5V6M13.5 11.5V9',
  keys: 'M5.5 13a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7M8 7.5 13.5 2M11 4.5 13 6.5',
  models:
    'M4 4h8v8H4zM6.5 6.5h3v3h-3zM6 1.5V4M10 1.5V4M6 12v2.5M10 12v2.5M1.5 6H4M1.5 10H4M12 6h2.5M12 10h2.5',
  limits: 'M2 12a6 6 0 1 1 12 0M8 12l3-4',
  billing: 'M1.5 3.5h13v9h-13zM1.5 6.5h13M4 10h3',
  alerts: 'M8 2a4 4 0 0 1 4 4c0 3.5 1.5 4.5 1.5 5.5h-11C2.5 10.5 4 9.5 4 6a4 4 0 0 1 4-4M6.5 13.500h3',
  audit: 'M4 2h8v12H4zM6 5.500h4M6 8h4M6 10.500h2.5',
  settings:
    'M2 4.500h6M11 4.500h3M2 11.500h3M8 11.500h6M9.5 6a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3M6.5 13a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3',
  providers: 'M2 2.500h12v4.500H2zM2 9h12v4.500H2zM4.5 4.800v0M4.5 11.300v0',
  health: 'M1.5 8.500H5l2-5 3 9 2-4h2.5',
  me: 'M8 8a3 3 0 1 0 0-6 3 3 0 0 0 0 6M2.5 14.500c0-3 2.5-5 5.5-5s5.5 2 5.5 5',
  docs: 'M8 4C6.5 3 4.5 2.5 2 2.500v10c2.5 0 4.5.500 6 1.5 1.5-1 3.5-1.5 6-1.500v-10C11.5 2.5 9.5 3 8 4M8 4v10',
  clock: 'M8 14.500a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13M8 4.500V8l2.5 1.5',
  'sign-out': 'M6 2H2.500v12H6M10.5 5l3 3-3 3M13.5 8H6',
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10M10.5 10.5 14 14',
  light:
    'M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6M8 1v1.500M8 13.500V15M1 8h1.500M13.5 8H15M3 3l1 1M12 12l1 1M3 13l1-1M12 4l1-1',
  dark: 'M13.5 9.500A6 6 0 0 1 6.5 2.500a6 6 0 1 0 7 7',
  auto: 'M1.5 2.500h13v8.500h-13zM5.5 14h5M8 11v3',
  lock: 'M3.5 7h9v7h-9zM5.5 7V4.500a2.5 2.5 0 0 1 5 0V7',
  switch: 'M5 6 8 3l3 3M5 10l3 3 3-3',
};

/** An icon beside a text that says the same. */
export function Icon({ name }: { name: string }) {
  return (
    <svg
      viewBox="0 0 16 16"
      width="16"
      height="16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.4"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}

/** The mark of Tollgate: a gate with its bar. */
export function Mark({ size = 22 }: { size?: number }) {
  return (
    <svg viewBox="0 0 32 32" width={size} height={size} aria-hidden="true" className="mark">
      <rect width="32" height="32" rx="7" fill="#1d5fa8" />
      <path d="M8 25V9m16 16V9M5.5 25h21" stroke="#fff" strokeWidth="3" strokeLinecap="round" />
      <path d="M8 12.5h16" stroke="#ffd166" strokeWidth="4" />
    </svg>
  );
}

/** Styles are bundled, and have nothing to import. */
declare module '*.css';

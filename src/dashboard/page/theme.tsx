import { createTheme, MantineProvider } from '@mantine/core';
import type { ReactNode } from 'react';

/** Backdrop of dialogs and panels. */
const OVERLAY = { color: '#0a0f14', backgroundOpacity: 0.55 };
/** The content security policy refuses the style element by which Mantine locks the scroll. */
const OVER_PAGE = { lockScroll: false, overlayProps: OVERLAY, closeButtonProps: { 'aria-label': 'Close' } };

/**
 * Theme of Mantine's components. Colours are variables of style/theme.css, because the content security policy refuses
 * the style element that Mantine would write. For the same reason no component gets responsive props.
 */
const THEME = createTheme({
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
  primaryColor: 'blue',
  defaultRadius: 'md',
  cursorType: 'pointer',
  components: {
    Modal: { defaultProps: { ...OVER_PAGE, centered: true } },
    Drawer: { defaultProps: { ...OVER_PAGE, position: 'right' } },
    Button: { defaultProps: { size: 'sm' } },
  },
});

/** Mantine around the page. */
export function Themed({ children }: { children: ReactNode }) {
  return (
    // The content security policy refuses style elements, which Mantine would write for its variables and classes.
    <MantineProvider
      theme={THEME}
      defaultColorScheme="auto"
      withCssVariables={false}
      withGlobalClasses={false}
    >
      {children}
    </MantineProvider>
  );
}

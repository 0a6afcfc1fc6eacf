import { createTheme } from '@mantine/core';

/** As the backdrop of the page's own dialogs. */
const OVERLAY = { color: '#0a0f14', backgroundOpacity: 0.55 };

/**
 * Theme of Mantine's components. Their colours are variables of the page's style sheet (style/theme.css), because the
 * content security policy refuses the style element that Mantine would write.
 */
export const THEME = createTheme({
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
  primaryColor: 'blue',
  defaultRadius: 'md',
  cursorType: 'pointer',
  components: {
    // Locking the scroll writes a style element too.
    Modal: {
      defaultProps: {
        lockScroll: false,
        overlayProps: OVERLAY,
        centered: true,
        closeButtonProps: { 'aria-label': 'Close' },
      },
    },
    Drawer: {
      defaultProps: {
        lockScroll: false,
        overlayProps: OVERLAY,
        position: 'right',
        closeButtonProps: { 'aria-label': 'Close' },
      },
    },
  },
});

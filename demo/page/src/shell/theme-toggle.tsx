import { MoonIcon, SunIcon, SystemIcon } from '../icons.tsx';
import { setTheme, THEMES, useTheme } from '../theme.ts';

const THEME_OPTIONS = {
  system: { Icon: SystemIcon, name: 'system' },
  light: { Icon: SunIcon, name: 'light' },
  dark: { Icon: MoonIcon, name: 'dark' },
} as const;

export function ThemeToggle() {
  const theme = useTheme();
  const { Icon, name } = THEME_OPTIONS[theme];
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'system';
  const text = `Theme: ${name}. Switch to ${THEME_OPTIONS[next].name}.`;
  return (
    <button
      type="button"
      className="button icon"
      aria-label={text}
      title={text}
      onClick={() => setTheme(next)}
    >
      <Icon />
    </button>
  );
}

import { MoonIcon, SunIcon, SystemIcon } from '../icons.tsx';
import { setTheme, THEMES, useTheme } from '../theme.ts';

const LOOKS = {
  system: { Icon: SystemIcon, name: 'as the system' },
  light: { Icon: SunIcon, name: 'light' },
  dark: { Icon: MoonIcon, name: 'dark' },
} as const;

export function ThemeToggle() {
  const theme = useTheme();
  const { Icon, name } = LOOKS[theme];
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'system';
  const text = `Colours: ${name}. Change to ${LOOKS[next].name}.`;
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

import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';

type MenuProps = {
  /** The button's accessible name. */
  label: string;
  button: ReactNode;
  className?: string | undefined;
  children: (close: () => void) => ReactNode;
};

/** A button that opens a small panel. The Escape key, a click elsewhere or losing focus closes the panel. */
export function Menu({ label, button, className = '', children }: MenuProps) {
  const [isOpen, setOpen] = useState(false);
  const container = useRef<HTMLDivElement>(null);
  const opener = useRef<HTMLButtonElement>(null);
  const id = useId();
  const close = () => setOpen(false);
  useEffect(() => {
    if (!isOpen) return;
    const closeIfOutside = (event: Event) =>
      container.current?.contains(event.target as Node) || setOpen(false);
    document.addEventListener('pointerdown', closeIfOutside);
    document.addEventListener('focusin', closeIfOutside);
    return () => {
      document.removeEventListener('pointerdown', closeIfOutside);
      document.removeEventListener('focusin', closeIfOutside);
    };
  }, [isOpen]);
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== 'Escape') return;
    close();
    opener.current?.focus();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only handles Escape from its children
    <div className="menu" ref={container} onKeyDown={onKey}>
      <button
        ref={opener}
        type="button"
        className={`button ${className}`}
        aria-label={label}
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        {button}
      </button>
      <div className="menu-panel" id={id} hidden={!isOpen}>
        {isOpen && children(close)}
      </div>
    </div>
  );
}

import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';

type MenuProps = {
  /** What the button says to those who do not see it. */
  label: string;
  button: ReactNode;
  className?: string | undefined;
  children: (close: () => void) => ReactNode;
};

/** A button that opens a small panel; closed by Escape, by a click elsewhere, and when the focus leaves. */
export function Menu({ label, button, className = '', children }: MenuProps) {
  const [isOpen, setOpen] = useState(false);
  const place = useRef<HTMLDivElement>(null);
  const opener = useRef<HTMLButtonElement>(null);
  const id = useId();
  const close = () => setOpen(false);
  useEffect(() => {
    if (!isOpen) return;
    const leave = (event: Event) => place.current?.contains(event.target as Node) || setOpen(false);
    document.addEventListener('pointerdown', leave);
    document.addEventListener('focusin', leave);
    return () => {
      document.removeEventListener('pointerdown', leave);
      document.removeEventListener('focusin', leave);
    };
  }, [isOpen]);
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== 'Escape') return;
    close();
    opener.current?.focus();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only listens for Escape of what is inside
    <div className="menu" ref={place} onKeyDown={onKey}>
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

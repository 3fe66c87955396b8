import { CircleAlert, CircleCheck, Info, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';

const noticeIcons = { error: CircleAlert, warn: TriangleAlert, good: CircleCheck, info: Info };

export function Notice({
  kind = 'info',
  title,
  children,
}: {
  kind?: keyof typeof noticeIcons;
  title?: string;
  children?: ReactNode;
}): ReactNode {
  const Icon = noticeIcons[kind];
  return (
    <div className={`notice ${kind}`} role={kind === 'error' ? 'alert' : 'note'}>
      <Icon size={17} aria-hidden />
      <div className="grow wrap">
        {title !== undefined && <div className="title">{title}</div>}
        {children}
      </div>
    </div>
  );
}

import { SegmentedControl, Slider } from '@mantine/core';
import { useState } from 'react';
import type { ReactNode } from 'react';

type Mode = 'two' | 'swipe' | 'onion' | 'difference';

function Side({ title, url, alt }: { title: string; url: string | undefined; alt: string }): ReactNode {
  return (
    <figure>
      <figcaption className="small muted">{title}</figcaption>
      {url === undefined ? <em className="muted">not there</em> : <img src={url} alt={alt} />}
    </figure>
  );
}

/** Two versions of an image: beside each other, or one over the other. */
export function ImageDiff({
  name,
  before,
  after,
}: {
  name: string;
  before: string | undefined;
  after: string | undefined;
}): ReactNode {
  const [mode, setMode] = useState<Mode>('two');
  const [share, setShare] = useState(50);
  const alts = { before: `${name} before`, after: `${name} after` };
  if (before === undefined || after === undefined || mode === 'two') {
    return (
      <div className="stack tight box-body">
        {before !== undefined && after !== undefined && <Modes mode={mode} onChange={setMode} />}
        <div className="diff-images">
          <Side title="Before" url={before} alt={alts.before} />
          <Side title="After" url={after} alt={alts.after} />
        </div>
      </div>
    );
  }
  const style =
    mode === 'swipe'
      ? { clipPath: `inset(0 0 0 ${share}%)` }
      : mode === 'onion'
        ? { opacity: share / 100 }
        : { mixBlendMode: 'difference' as const };
  return (
    <div className="stack tight box-body">
      <Modes mode={mode} onChange={setMode} />
      <div className={`image-stack ${mode}`}>
        <img src={before} alt={alts.before} />
        <img src={after} alt={alts.after} style={style} />
      </div>
      {mode === 'difference' ? (
        <div className="small muted">Black is the same; what lights up has changed.</div>
      ) : (
        <Slider
          thumbLabel={mode === 'swipe' ? 'Where the new image begins' : 'How much the new image shows'}
          label={null}
          value={share}
          onChange={setShare}
          maw={420}
        />
      )}
    </div>
  );
}

function Modes({ mode, onChange }: { mode: Mode; onChange: (mode: Mode) => void }): ReactNode {
  return (
    <div>
      <SegmentedControl<Mode>
        size="xs"
        aria-label="How to compare the images"
        value={mode}
        onChange={onChange}
        data={[
          { value: 'two', label: 'Side by side' },
          { value: 'swipe', label: 'Swipe' },
          { value: 'onion', label: 'Fade' },
          { value: 'difference', label: 'Difference' },
        ]}
      />
    </div>
  );
}

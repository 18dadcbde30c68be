"""Small sample timelines."""

HEADER = """# schema=1
# version=0.1.0
# plan_hash=0123456789abcdef
# machine=two-gpu
# policy=gemmex
# problem=gemm m=64 n=32 k=16 dtype=f64 trans=NT alpha=1 beta=0 place=host:host:gpu1
# tile=16
# backend=sim
# devices=gpu0;gpu1
# hosts=host
# ops={ops}
op,kind,queue,device,src,dst,bytes,flops,route,label,ready_s,start_s,end_s
"""

# Times in ms: copy in 0 to 1, product 1 to 3, copy to gpu1 3 to 3.5, update there 4 to 4.5, copy out 4.5 to 5.5, join.
ROWS = [
    '0,copy,host->gpu0,gpu0,host,gpu0,1000,0,host->pcie;pcie->gpu0,"A[0:16,0:16]",0,0,0.001',
    '1,gemm,gpu0 compute 0,gpu0,gpu0,gpu0,0,4000000,,"C[0:16,0:16]",0.001,0.001,0.003',
    '2,copy,gpu0->gpu1,gpu1,gpu0,gpu1,500,0,gpu0->gpu1,"C[0:16,0:16]",0.003,0.003,0.0035',
    '3,axpby,gpu1 compute 0,gpu1,gpu1,gpu1,0,0,,"C[0:16,0:16]",0.0035,0.004,0.0045',
    '4,copy,gpu1->host #2,gpu1,gpu1,host,500,0,gpu1->pcie;pcie->host,"C[0:16,0:16]",0.0045,0.0045,0.0055',
    "5,join,gpu1 compute 0,gpu1,gpu1,gpu1,0,0,,,0.0055,0.0055,0.0055",
]


def csv_text(rows=None) -> str:
    rows = ROWS if rows is None else rows
    return HEADER.format(ops=len(rows)) + "".join(row + "\n" for row in rows)


def many(ops: int, seconds: float) -> str:
    """`ops` products one after another on one queue, with a total time of `seconds`."""
    step = seconds / ops
    return csv_text([f"{i},gemm,gpu0 compute 0,gpu0,gpu0,gpu0,0,8,,,{i * step!r},{i * step!r},{(i + 1) * step!r}"
                     for i in range(ops)])


def shown(figure):
    """The drawn texts of a figure; fails if one is parsed as mathematics."""
    from matplotlib.text import Text

    texts = set()
    for text in figure.findobj(Text):
        words, is_math = text._preprocess_math(text.get_text())
        assert not is_math, text.get_text()
        texts.add(words)
    return texts

"""What a proof found, as a table."""

from steptime.checks.parity_table import cells, markdown

REPORT = """\
<testsuites><testsuite>
  <testcase name="a"><properties>
    <property name="backend" value="caffe"/><property name="family" value="lenet"/>
    <property name="figures" value='{"outputs": 1e-7, "weights": 0.00021}'/>
  </properties></testcase>
  <testcase name="b"><properties>
    <property name="backend" value="caffe"/><property name="family" value="llama"/>
    <property name="figures" value='{"unsupported": "caffe has no operator Attention, RMSNorm"}'/>
  </properties><skipped message="unsupported"/></testcase>
  <testcase name="c"><properties>
    <property name="backend" value="keras:compile=graph"/><property name="family" value="lenet"/>
    <property name="figures" value='{"outputs": 0.5}'/>
  </properties><failure message="outputs off by 0.5, allowed 1e-10"/></testcase>
  <testcase name="d"><properties>
    <property name="backend" value="keras:compile=graph"/><property name="family" value="llama"/>
  </properties><skipped message="takes minutes"/></testcase>
  <testcase name="another test"/>
</testsuite></testsuites>
"""


def test_distances_refusals_and_failures_are_told_apart():
    assert (
        markdown(cells(REPORT))
        == """\
| family | caffe | keras |
|---|---|---|
| lenet | 2e-04 | WRONG |
| llama | unsupported | not run |

- llama: caffe has no operator Attention, RMSNorm
"""
    )


def test_inference_is_measured_by_its_outputs():
    only = REPORT.replace(', "weights": 0.00021', "")
    assert cells(only)["lenet", "caffe"].distance == 1e-7
